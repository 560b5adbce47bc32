import { type Query, withErrorContext } from '@akin/domain';
import { type Candidates, mergeCandidates } from '@akin/searcher';
import { shardsOf } from '../collections/shards.ts';
import type { Collection } from '../context.ts';
import { type CandidateFinder, countedFacets } from '../search/candidate-finder.ts';
import { compileQuery } from '../search/compile.ts';
import type { Clock } from '../search/date-math.ts';
import type { NearQuery } from '../search/near-query.ts';
import { Params } from '../search/params.ts';
import type { SearchRequest } from '../search/request.ts';
import type { Snapshot } from '../search/snapshot.ts';
import type { NamedQuery, NodeRequest } from './protocol.ts';
import type { FindOptions, SearchNodes } from './search-nodes.ts';
import { searchShardsInDatabase } from './shards-in-database.ts';

/** The queries of a search, and what to count. */
type Matching = Pick<NodeRequest, 'queries' | 'matchIndexes' | 'countIndexes' | 'collapsed'>;

const NO_CONDITIONS: Matching = { queries: [], matchIndexes: [], countIndexes: [], collapsed: [] };

/** A transaction that is idle for four seconds is ended, so that a process that hangs does not block others. */
const BUSY_MILLISECONDS = 1_500;

/** Options of one search. */
interface Options extends Pick<FindOptions, 'signal'> {
  /** Deadline of the search, in the time of `performance.now()`; undefined: there is none. */
  readonly deadline?: number | undefined;
  /** Whether the database searches the shards that no node has. */
  readonly databaseCompletes: boolean;
}

/** Finds candidates with search nodes, each of which has some shards of the collection in memory. */
export class NodeCandidates implements CandidateFinder {
  readonly #nodes: SearchNodes;
  readonly #collection: Collection;
  readonly #documents: number;
  readonly #snapshot: Snapshot;
  readonly #clock: Clock;
  readonly #options: Options;
  #counts: readonly number[] | undefined;
  lacksCommit = false;
  hasSomeShards = false;

  /**
   * @param documents how many have a vector of the module that the search ranks by
   */
  constructor(
    nodes: SearchNodes,
    collection: Collection,
    documents: number,
    snapshot: Snapshot,
    clock: Clock,
    options: Options,
  ) {
    this.#options = options;
    this.#nodes = nodes;
    this.#collection = collection;
    this.#documents = documents;
    this.#snapshot = snapshot;
    this.#clock = clock;
  }

  async nearest(
    request: SearchRequest,
    query: NearQuery,
    collapsed: readonly bigint[],
  ): Promise<Candidates | undefined> {
    const { query: q, filters = [], uncached } = request;
    const queries: NamedQuery[] = [];
    const indexOfQuery = (name: string, query: Query): number => {
      const known = queries.findIndex((one) => one.query === query);
      if (known >= 0) return known;
      this.#check(name, query);
      return queries.push({ name, query, isCached: !uncached?.has(query) }) - 1;
    };
    const matchIndexes = [indexOfQuery('q', q), ...filters.map((one) => indexOfQuery('fq', one))];
    const countIndexes = countedFacets(request).map(({ queries }) =>
      queries.map((one) => indexOfQuery('facet.query', one)),
    );
    return this.#ask(query, { queries, matchIndexes, countIndexes, collapsed });
  }

  within(query: NearQuery): Promise<Candidates | undefined> {
    return this.#ask(query, NO_CONDITIONS);
  }

  async facetCounts(request: SearchRequest): Promise<ReadonlyMap<number, number>> {
    const counted = countedFacets(request);
    return new Map(this.#counts?.map((count, i) => [counted[i]?.index as number, count]));
  }

  [Symbol.dispose](): void {}

  async #ask(near: NearQuery, matching: Matching): Promise<Candidates | undefined> {
    const { tx, commit, committedAt, schema, expansions } = this.#snapshot;
    if (committedAt === null) return undefined;
    const { now, timeZone } = this.#clock;
    const request: NodeRequest = {
      ...matching,
      ...{ near, commit, committedAt, expansions, now, timeZone },
      collection: this.#collection.id,
      schemaVersion: schema.version,
      shards: shardsOf(this.#collection),
      documents: this.#documents,
    };
    // Half of the time is reserved for the database.
    const { deadline, signal, databaseCompletes } = this.#options;
    const milliseconds = deadline === undefined ? undefined : Math.max(0, (deadline - performance.now()) / 2);
    const busy = setInterval(() => tx.query('select 1 as busy').catch(() => undefined), BUSY_MILLISECONDS);
    const options = { milliseconds, signal, acceptsPartial: databaseCompletes };
    const responses = await this.#nodes.findCandidates(request, options).finally(() => clearInterval(busy));
    // The client may no longer wait: then the database need not search.
    signal?.throwIfAborted();
    const answered = new Set(responses?.flatMap(({ shards }) => shards));
    const missing = Array.from({ length: request.shards }, (_, shard) => shard).filter((one) => !answered.has(one));
    this.lacksCommit = missing.length > 0;
    this.hasSomeShards = this.lacksCommit && responses !== undefined;
    if (responses === undefined || (missing.length > 0 && (!databaseCompletes || responses.length === 0)))
      return undefined;
    const rest =
      missing.length === 0
        ? []
        : [await searchShardsInDatabase(this.#snapshot, this.#collection, missing, request, this.#clock)];
    const parts = [...responses, ...rest];
    this.#counts = matching.countIndexes.map((_, i) => parts.reduce((sum, { counts }) => sum + (counts[i] ?? 0), 0));
    return mergeCandidates(
      parts.flatMap(({ candidates }) => candidates ?? []),
      near,
    );
  }

  /** Refuses a query as the database would. Also records the used columns, for indexes on them. */
  #check(name: string, query: Query): void {
    const context = { tables: this.#snapshot, params: new Params(), ...this.#clock };
    withErrorContext(name, () => compileQuery(query, context, false));
  }
}
