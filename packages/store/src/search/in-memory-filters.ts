import { type Query, withErrorContext } from '@akin/domain';
import type { DocNumbers, Restriction } from '@akin/searcher';
import type { LoadedFilters } from '../searcher/filter-cache.ts';
import type { InMemoryCollection } from '../searcher/in-memory-collection.ts';
import { readValueLists, type ValueReader } from '../searcher/in-memory-columns.ts';
import { docsColumn, type MatchRequest, readDocsColumn } from '../searcher/match-reader.ts';
import type { RowSource } from '../searcher/row-source.ts';
import { conditionOf } from './compile.ts';
import { countedFacets } from './counted-facets.ts';
import type { Clock } from './date-math.ts';
import { Params } from './params.ts';
import type { SearchRequest } from './request.ts';
import type { Snapshot } from './snapshot.ts';
import { valueTest } from './value-test.ts';
import { compileKeyQuery } from './visible.ts';

/** If more than this share of all documents match, the documents that do not match are read instead. */
const COMPLEMENT_SHARE = 0.6;

/** Statistics of a column are read again after this time. */
const KNOWN_MILLISECONDS = 15 * 60_000;

/** The share of documents with the most frequent value of a column, by collection and column, as last read. */
const MOST_FREQUENT = new WeakMap<
  InMemoryCollection,
  Map<string, { readonly share: number; readonly until: number }>
>();

type InMemoryFilter = LoadedFilters['filters'][number];

/** The queries of one search as filters in the searcher, for the duration of the search. */
export class InMemoryFilters implements Disposable {
  readonly #held: InMemoryCollection;
  readonly #snapshot: Snapshot;
  readonly #clock: Clock;
  readonly #smallest: number;
  readonly #source: RowSource;
  /** By query. Undefined: the query matches everything. */
  readonly #filters = new Map<Query, InMemoryFilter | undefined>();
  #taken: readonly InMemoryFilter[] = [];
  #excluded: readonly InMemoryFilter[] = [];
  readonly #loads: Promise<void>[] = [];

  /** @param smallest in collections with fewer documents than this, matches are read, which is as fast as estimating */
  constructor(held: InMemoryCollection, snapshot: Snapshot, clock: Clock, smallest: number, source: RowSource) {
    this.#source = source;
    this.#smallest = smallest;
    this.#held = held;
    this.#snapshot = snapshot;
    this.#clock = clock;
  }

  /** Resolves when the searcher has all filters. Requests that use them may be sent before. */
  get loaded(): Promise<unknown> {
    return Promise.all(this.#loads);
  }

  /** Loads the missing filters into the searcher: those of the search, and those that it counts by `facet.query`. */
  async load(request: SearchRequest): Promise<void> {
    const { query, filters = [], uncached } = request;
    await this.use(
      [
        ['q', query],
        ...filters.map((one) => ['fq', one] as const),
        ...countedFacets(request).map(({ queries }) => ['facet.query', queries.at(-1) as Query] as const),
      ],
      uncached,
    );
  }

  /** Loads the matches of some queries into the searcher. @param uncached those that are not kept for other searches */
  async use(
    queries: readonly (readonly [name: string, query: Query])[],
    uncached: ReadonlySet<Query> | undefined,
  ): Promise<void> {
    const ofKey = (this.#snapshot.key?.queries ?? []).map((query) => ['filter', query] as const);
    const restricting: Query[] = [];
    const keys: (string | undefined)[] = [];
    for (const [name, one] of [...ofKey, ...queries]) {
      const params = new Params();
      const where = withErrorContext(name, () => this.#where(one, params));
      this.#filters.set(one, undefined);
      if (where === 'true') continue;
      restricting.push(one);
      keys.push(uncached?.has(one) ? undefined : keyOf(where, params));
    }
    const { commit } = this.#snapshot;
    const { filters, loaded } = await this.#held.filters.load(keys, commit, {
      matchesMost: (index) => this.#matchesMost(restricting[index] as Query),
      read: (wanted, last) => this.#readMatches(wanted, last, restricting),
      values: this.#valueReader(restricting),
    });
    this.#taken = filters;
    this.#loads.push(loaded);
    for (const [i, one] of restricting.entries()) this.#filters.set(one, this.#taken[i]);
  }

  async exclude(docs: readonly bigint[]): Promise<void> {
    if (docs.length === 0) return;
    const { filters, loaded } = await this.#held.filters.load([undefined], this.#snapshot.commit, {
      matchesMost: async () => false,
      read: async () => [Float64Array.from(docs, Number)],
    });
    this.#excluded = filters;
    this.#loads.push(loaded);
  }

  /** The documents that match all of some queries and the filter of the key, except those that are left out. */
  of(queries: readonly Query[]): Restriction {
    const all = [...(this.#snapshot.key?.queries ?? []), ...queries];
    const held = all.map((query) => this.#filters.get(query)).filter((filter) => filter !== undefined);
    const excluded = [...held.filter(({ isComplement }) => isComplement), ...this.#excluded];
    return {
      filters: held.filter(({ isComplement }) => !isComplement).map(({ number }) => number),
      excluded: excluded.map(({ number }) => number),
    };
  }

  [Symbol.dispose](): void {
    this.#held.filters.release([...this.#taken, ...this.#excluded].map(({ number }) => number));
    this.#taken = [];
    this.#excluded = [];
  }

  #where(query: Query, params: Params): string {
    const { key } = this.#snapshot;
    if (key?.queries.includes(query)) return compileKeyQuery(query, { tables: this.#snapshot, params, ...key.clock });
    return conditionOf(query, { tables: this.#snapshot, params, ...this.#clock });
  }

  async #matchesMost(query: Query): Promise<boolean> {
    const { explain, sqlSchema, documents } = this.#snapshot;
    if (documents < this.#smallest || (await this.#asksForFew(query))) return false;
    const params = new Params();
    const where = this.#where(query, params);
    const [row] = await explain<{ 'QUERY PLAN': string }>(
      `explain (format json) select 1 from ${sqlSchema}.documents d where (${where})`,
      params.values,
    );
    const [{ Plan }] = JSON.parse(row?.['QUERY PLAN'] as string);
    return Plan['Plan Rows'] > COMPLEMENT_SHARE * Number(documents);
  }

  /**
   * Whether a query asks for so few values of a column that most documents cannot have one of them. This needs no plan
   * of the database.
   */
  async #asksForFew(query: Query): Promise<boolean> {
    const test = valueTest(query, this.#snapshot);
    if (test === undefined || test.isExcluded || test.conditions.length > 0) return false;
    return test.values.size * (await this.#mostFrequentShare(test.column)) <= COMPLEMENT_SHARE;
  }

  /** 1 if it is unknown. */
  async #mostFrequentShare(column: string): Promise<number> {
    const known = MOST_FREQUENT.get(this.#held) ?? new Map<string, { share: number; until: number }>();
    MOST_FREQUENT.set(this.#held, known);
    const last = known.get(column);
    if (last !== undefined && performance.now() < last.until) return last.share;
    const { explain, sqlSchema } = this.#snapshot;
    // The statistics of all partitions together are called inherited. A column without frequent values has none of
    // them.
    const [row] = await explain<{ most_frequent: number | null }>(
      `select most_common_freqs[1] as most_frequent from pg_stats
        where schemaname = $1 and tablename = 'documents' and attname = $2 order by inherited desc limit 1`,
      [sqlSchema, column],
    );
    const share = row === undefined ? 1 : (row.most_frequent ?? 0);
    known.set(column, { share, until: performance.now() + KNOWN_MILLISECONDS });
    return share;
  }

  /** @returns undefined if reading the matches is as fast */
  #valueReader(queries: readonly Query[]): ValueReader | undefined {
    const { tx, documents } = this.#snapshot;
    if (documents < this.#smallest) return undefined;
    const { collection } = this.#held;
    return {
      source: this.#source,
      test: (index) => valueTest(queries[index] as Query, this.#snapshot),
      read: (column, range, max) => readValueLists(tx, collection, column, range, max),
    };
  }

  /** Matches of some queries, or the documents that do not match, in one statement. */
  async #readMatches(wanted: readonly MatchRequest[], last: number, queries: readonly Query[]): Promise<DocNumbers[]> {
    const { tx, sqlSchema, commit } = this.#snapshot;
    const params = new Params();
    const upTo = params.add(commit, 'int8');
    const greatest = params.add(last, 'int8');
    const columns = wanted.map(({ index, after, isComplement }, i) => {
      const since = after < 0n ? '' : `d.valid_from > ${params.add(after, 'int8')} and `;
      const where = this.#where(queries[index] as Query, params);
      return `(select ${docsColumn('d.doc', last)} from ${sqlSchema}.documents d
                where ${since}d.valid_from <= ${upTo} and d.doc <= ${greatest} and (${where})${isComplement ? ' is not true' : ''}) as matches${i}`;
    });
    const [row] = await tx.query<Record<string, string | null>>(`select ${columns.join(', ')}`, params.values);
    return wanted.map((_, i) => readDocsColumn(row?.[`matches${i}`] ?? null, last));
  }
}

/** With another value of NOW it is another filter. */
function keyOf(where: string, { values }: Params): string {
  return JSON.stringify([where, values], (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}
