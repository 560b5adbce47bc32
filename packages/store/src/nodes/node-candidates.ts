import { naming, type Query } from '@akin/domain';
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
import type { NamedQuery, NodeQuestion } from './question.ts';
import type { SearchNodes } from './search-nodes.ts';

/** What is asked besides the nearest. */
type Matching = Pick<NodeQuestion, 'queries' | 'matching' | 'counted' | 'folded'>;

const EVERYTHING: Matching = { queries: [], matching: [], counted: [], folded: [] };

/** A transaction in which nothing runs for four seconds is ended, so that one that hangs keeps nobody waiting. */
const BUSY_MILLISECONDS = 1_500;

/** Finds candidates by search nodes, of which each holds some shards of the collection. */
export class NodeCandidates implements CandidateFinder {
  readonly #nodes: SearchNodes;
  readonly #collection: Collection;
  readonly #documents: number;
  readonly #snapshot: Snapshot;
  readonly #clock: Clock;
  readonly #deadline: number | undefined;
  #counts: readonly number[] | undefined;
  isElsewhere = false;

  /**
   * @param documents how many have a vector of the module that the search ranks by
   * @param deadline of the search, in the time of `performance.now()`; undefined: there is none
   */
  constructor(
    nodes: SearchNodes,
    collection: Collection,
    documents: number,
    snapshot: Snapshot,
    clock: Clock,
    deadline: number | undefined,
  ) {
    this.#deadline = deadline;
    this.#nodes = nodes;
    this.#collection = collection;
    this.#documents = documents;
    this.#snapshot = snapshot;
    this.#clock = clock;
  }

  async nearest(request: SearchRequest, query: NearQuery, folded: readonly bigint[]): Promise<Candidates | undefined> {
    const { query: q, filters = [], uncached } = request;
    const queries: NamedQuery[] = [];
    const placeOf = (name: string, query: Query): number => {
      const known = queries.findIndex((one) => one.query === query);
      if (known >= 0) return known;
      this.#check(name, query);
      return queries.push({ name, query, isCached: !uncached?.has(query) }) - 1;
    };
    const matching = [placeOf('q', q), ...filters.map((one) => placeOf('fq', one))];
    const counted = countedFacets(request).map(({ queries }) => queries.map((one) => placeOf('facet.query', one)));
    return this.#ask(query, { queries, matching, counted, folded });
  }

  within(query: NearQuery): Promise<Candidates | undefined> {
    return this.#ask(query, EVERYTHING);
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
    const question: NodeQuestion = {
      ...matching,
      ...{ near, commit, committedAt, expansions, now, timeZone },
      collection: this.#collection.id,
      schemaVersion: schema.version,
      shards: shardsOf(this.#collection),
      documents: this.#documents,
    };
    // Half of the time is left for the database.
    const left = this.#deadline === undefined ? undefined : Math.max(0, (this.#deadline - performance.now()) / 2);
    const busy = setInterval(() => tx.query('select 1 as busy').catch(() => undefined), BUSY_MILLISECONDS);
    const answers = await this.#nodes.ask(question, left).finally(() => clearInterval(busy));
    this.isElsewhere = answers === undefined;
    if (answers === undefined) return undefined;
    const { counted } = matching;
    this.#counts = counted.map((_, i) => answers.reduce((sum, { counts }) => sum + (counts[i] ?? 0), 0));
    return mergeCandidates(
      answers.flatMap(({ candidates }) => candidates ?? []),
      near,
    );
  }

  /** As the database would refuse it; and what it does with columns is written down, for indexes on them. */
  #check(name: string, query: Query): void {
    const context = { tables: this.#snapshot, params: new Params(), ...this.#clock };
    naming(name, () => compileQuery(query, context, false));
  }
}
