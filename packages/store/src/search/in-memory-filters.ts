import { type Query, withErrorContext } from '@akin/domain';
import type { DocNumbers, Restriction } from '@akin/searcher';
import { conditionOf } from './compile.ts';
import { countedFacets } from './counted-facets.ts';
import { excludedQueries } from './excluded-queries.ts';
import { contextOf } from './matching.ts';
import { Params } from './params.ts';
import type { SearchRequest } from './request.ts';
import type { InMemoryCollection } from './searcher/in-memory-collection.ts';
import {
  type AskedFilter,
  docsColumn,
  type MatchReader,
  type MatchRequest,
  readDocsColumn,
} from './searcher/match-reader.ts';
import type { Snapshot } from './snapshot.ts';
import { valueTest } from './value-test.ts';
import { compileKeyQuery } from './visible.ts';

interface InMemoryFilter {
  readonly number: number;
  /** Whether it has the matches of the excluded queries: usually these are few. */
  readonly isExcluded: boolean;
}

/** Writes a condition on a row `d` of `documents`. */
type Where = (params: Params) => string;

/** The queries of one search as filters in the searcher, for the duration of the search. */
export class InMemoryFilters implements Disposable {
  readonly #held: InMemoryCollection;
  readonly #snapshot: Snapshot;
  /** By query. Undefined: the query matches everything. */
  readonly #filters = new Map<Query, InMemoryFilter | undefined>();
  readonly #taken: number[] = [];
  #excluded: readonly number[] = [];
  readonly #loads: Promise<void>[] = [];

  constructor(held: InMemoryCollection, snapshot: Snapshot) {
    this.#held = held;
    this.#snapshot = snapshot;
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
    const ofKey = this.#snapshot.key?.queries ?? [];
    const asked: (AskedFilter & { readonly query: Query; readonly isExcluded: boolean; readonly where: Where })[] = [];
    for (const [name, query] of [...ofKey.map((one) => ['filter', one] as const), ...queries]) {
      const excluded = excludedQueries(query);
      const matched: Query = excluded ? { kind: 'bool', must: [], should: excluded, mustNot: [] } : query;
      const where = (params: Params) => this.#where(matched, ofKey.includes(query), params);
      const params = new Params();
      const sql = withErrorContext(name, () => where(params));
      this.#filters.set(query, undefined);
      if (sql === 'true' && !excluded) continue;
      const key = uncached?.has(query) ? undefined : keyOf(sql, params);
      asked.push({ query, isExcluded: excluded !== undefined, where, key, test: this.#valueTest(matched) });
    }
    const { tx, store } = this.#snapshot;
    const filters = await this.#load(asked, {
      read: (wanted, last) => this.#readMatches(wanted, last, asked),
      values: { source: store, tx },
    });
    for (const [i, { query, isExcluded }] of asked.entries()) {
      this.#filters.set(query, { number: filters[i] as number, isExcluded });
    }
  }

  /** Leaves out some documents. */
  async exclude(docs: readonly bigint[]): Promise<void> {
    if (docs.length > 0) this.#excluded = [await this.add(Float64Array.from(docs, Number))];
  }

  /** A filter that matches some documents. @param key identifies them for later searches of the same commit */
  async add(docs: DocNumbers, key?: string): Promise<number> {
    const [filter] = await this.#load([{ key }], { read: async () => [docs] });
    return filter as number;
  }

  async #load(asked: readonly AskedFilter[], reader: MatchReader): Promise<readonly number[]> {
    const { filters, loaded } = await this.#held.filters.load(asked, this.#snapshot.commit, reader);
    this.#taken.push(...filters);
    this.#loads.push(loaded);
    return filters;
  }

  /** The documents that match all of some queries and the filter of the key, except those that are left out. */
  of(queries: readonly Query[]): Restriction {
    const all = [...(this.#snapshot.key?.queries ?? []), ...queries];
    const held = all.flatMap((query) => this.#filters.get(query) ?? []);
    const numbers = (excluded: boolean) =>
      held.filter(({ isExcluded }) => isExcluded === excluded).map(({ number }) => number);
    return { filters: numbers(false), excluded: [...numbers(true), ...this.#excluded] };
  }

  [Symbol.dispose](): void {
    this.#held.filters.release(this.#taken.splice(0));
  }

  #where(query: Query, isOfKey: boolean, params: Params): string {
    const { key } = this.#snapshot;
    if (key && isOfKey) return compileKeyQuery(query, { tables: this.#snapshot, params, ...key.clock });
    return conditionOf(query, contextOf(this.#snapshot, params));
  }

  /**
   * @returns undefined if values in memory cannot tell what matches, or the documents are so few that reading the
   * matches is as fast
   */
  #valueTest(query: Query): AskedFilter['test'] {
    const { documents, store } = this.#snapshot;
    return documents < store.exactDocuments ? undefined : valueTest(query, this.#snapshot);
  }

  /** Matches of some conditions, in one statement. */
  async #readMatches(
    wanted: readonly MatchRequest[],
    last: number,
    asked: readonly { readonly where: Where }[],
  ): Promise<DocNumbers[]> {
    const { tx, sqlSchema, commit } = this.#snapshot;
    const params = new Params();
    const upTo = params.add(commit, 'int8');
    const greatest = params.add(last, 'int8');
    const columns = wanted.map(({ index, after }, i) => {
      const since = after < 0n ? '' : `d.valid_from > ${params.add(after, 'int8')} and `;
      const where = asked[index]?.where(params);
      return `(select ${docsColumn('d.doc', last)} from ${sqlSchema}.documents d
                where ${since}d.valid_from <= ${upTo} and d.doc <= ${greatest} and (${where})) as matches${i}`;
    });
    const [row] = await tx.query<Record<string, string | null>>(`select ${columns.join(', ')}`, params.values);
    return wanted.map((_, i) => readDocsColumn(row?.[`matches${i}`] ?? null, last));
  }
}

/** With another value of NOW it is another filter. */
function keyOf(where: string, { values }: Params): string {
  return JSON.stringify([where, values], (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}
