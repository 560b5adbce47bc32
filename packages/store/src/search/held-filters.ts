import { naming, type Query } from '@akin/domain';
import type { HeldCollection, WantedMatches } from '../searcher/held-collection.ts';
import { compileQuery } from './compile.ts';
import type { Clock } from './date-math.ts';
import { Params } from './params.ts';
import type { SearchRequest } from './request.ts';
import type { Snapshot } from './snapshot.ts';

/** Of more facet.query the bitmaps would drive out those of other searches. */
const MOST_COUNTED = 50;

/** The queries of one search as filters that the searcher holds, for as long as the search takes. */
export class HeldFilters implements Disposable {
  readonly #held: HeldCollection;
  readonly #snapshot: Snapshot;
  readonly #clock: Clock;
  /** Undefined: it matches everything. */
  readonly #numbers = new Map<Query, number | undefined>();
  #taken: readonly number[] = [];
  #excluded: readonly number[] = [];

  constructor(held: HeldCollection, snapshot: Snapshot, clock: Clock) {
    this.#held = held;
    this.#snapshot = snapshot;
    this.#clock = clock;
  }

  /** Has the searcher hold what it does not yet: what restricts the search, and what it counts by `facet.query`. */
  async load({ query, filters = [], facets = [], uncached }: SearchRequest): Promise<void> {
    const counted = facets.flatMap((facet) => (facet.kind === 'query' ? [facet.query] : []));
    const queries: (readonly [name: string, query: Query])[] = [
      ['q', query],
      ...filters.map((one) => ['fq', one] as const),
      // What is not to be remembered is counted by the database at less cost.
      ...(counted.length > MOST_COUNTED ? [] : counted)
        .filter((one) => !uncached?.has(one))
        .map((one) => ['facet.query', one] as const),
    ];
    const restricting: Query[] = [];
    const keys: (string | undefined)[] = [];
    for (const [name, one] of queries) {
      const params = new Params();
      const where = naming(name, () => this.#where(one, params));
      this.#numbers.set(one, undefined);
      if (where === 'true') continue;
      restricting.push(one);
      keys.push(uncached?.has(one) ? undefined : keyOf(where, params));
    }
    const { commit } = this.#snapshot;
    this.#taken = await this.#held.filters(keys, commit, (wanted) => this.#readMatches(wanted, restricting));
    for (const [i, one] of restricting.entries()) this.#numbers.set(one, this.#taken[i]);
  }

  /** Has the searcher leave out some documents. */
  async exclude(docs: readonly bigint[]): Promise<void> {
    if (docs.length === 0) return;
    const bytes = Buffer.allocUnsafe(8 * docs.length);
    for (const [i, doc] of docs.entries()) bytes.writeBigInt64BE(doc, 8 * i);
    this.#excluded = await this.#held.filters([undefined], this.#snapshot.commit, async () => [bytes]);
  }

  /** The filter of the documents that are left out, if there are any. */
  get excluded(): readonly number[] {
    return this.#excluded;
  }

  /** Whether a query is held. */
  has(query: Query): boolean {
    return this.#numbers.has(query);
  }

  /** The filters whose matches all of some queries match. */
  of(queries: readonly Query[]): number[] {
    return queries.map((query) => this.#numbers.get(query)).filter((number) => number !== undefined);
  }

  [Symbol.dispose](): void {
    this.#held.release([...this.#taken, ...this.#excluded]);
    this.#taken = [];
    this.#excluded = [];
  }

  #where(query: Query, params: Params): string {
    return compileQuery(query, { tables: this.#snapshot, params, ...this.#clock }, false).where;
  }

  /** Matches of some queries, in one statement. */
  async #readMatches(wanted: readonly WantedMatches[], queries: readonly Query[]): Promise<Buffer[]> {
    const { tx, sqlSchema, commit } = this.#snapshot;
    const params = new Params();
    const upTo = params.add(commit, 'int8');
    const columns = wanted.map(({ index, after }, i) => {
      const since = after < 0n ? '' : `d.valid_from > ${params.add(after, 'int8')} and `;
      const where = this.#where(queries[index] as Query, params);
      return `(select string_agg(int8send(d.doc), '') from ${sqlSchema}.documents d
                where ${since}d.valid_from <= ${upTo} and ${where}) as matches${i}`;
    });
    const [row] = await tx.query<Record<string, Buffer | null>>(`select ${columns.join(', ')}`, params.values);
    return wanted.map((_, i) => row?.[`matches${i}`] ?? Buffer.alloc(0));
  }
}

/** What a query says is all in its statement: a date that moves makes another filter of it. */
function keyOf(where: string, { values }: Params): string {
  return JSON.stringify([where, values], (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}
