import { cellTable, currentGeneration, finderOf } from '../cells/generations.ts';
import type { Collection, Store } from '../context.ts';
import type { Row } from '../engine/engine.ts';
import type { Clock } from './date-math.ts';
import { conditionsOf, distanceTo, rankedTable } from './matching.ts';
import { Params } from './params.ts';
import type { Rank, Ranking, SearchRequest, Smartfilter } from './request.ts';
import { sortOf } from './request.ts';
import type { Snapshot } from './snapshot.ts';
import { type Cells, orderOfHits, visitOutward } from './visit-outward.ts';

/*
 * The plan rule: how the nearest documents of a large collection are found. Each step gives full pages or hands on.
 *
 *   1. Few matches (at most `exactDocuments`): all of them are compared.
 *   2. The nearest cells: their rows are compared first and only the nearest few of them are looked up in documents,
 *      for visibility and filters. They come in order of distance, so as soon as enough of them match, these are the
 *      right ones of those cells. How many cells are visited grows as fewer of the rows there match.
 *   3. Matches are not where the query is: hardly any are in those cells, or the last of the page is farther than the
 *      centroid of a cell that was not visited. Up to three times as many as in step 1 are compared all the same. Where
 *      there are more, cells are visited from the near to the far until what is left is too far away to have something
 *      for the page.
 *
 * What each costs PostgreSQL with 1,000,000 documents, in milliseconds of processor time on a busy machine: 10,000
 * matches compared 25; 12,000 rows of the nearest cells, without a filter, 6; 38,000 rows under a filter of 10 % 20;
 * all rows compared 350, and each of them that is nearer than what matches (60,000 at worst) looked up 75 more.
 */

/** A page of the nearest documents. */
export interface NearestPage {
  readonly rows: readonly { readonly doc: bigint; readonly id: string; readonly value: number }[];
  readonly ranking: Ranking;
  /** How many documents match, where that came along. */
  readonly found?: number | undefined;
  /** The least distance of all matches; null when there are none. */
  readonly best: number | null;
}

/** Farther down pages are exact, so that they follow on each other without gaps. */
const DEEPEST = 1_000;

/**
 * Cells that are visited where all their rows match. Where a share s of them does, 1/√s times as many are: the nearest
 * matches are spread over more cells then, but not over 1/s times as many.
 */
const CELLS: Readonly<Record<Smartfilter, number>> = { off: Number.POSITIVE_INFINITY, low: 24, medium: 12, high: 6 };
/**
 * Cells of few rows, side by side, miss more: so many of them are visited that at least this share of `exactDocuments` is
 * compared for each cell above. 5,000 rows of 100,000 documents had recall 0.995, the 3,800 of 24 cells 0.985; at
 * 1,000,000 documents 24 cells have 12,000 rows and recall 0.99.
 */
const LEAST_SHARE_A_CELL = 1 / 96;

/** So many nearest rows are looked up at least: they also tell how many match around here. */
const LEAST_LOOKED_UP = 400;
/**
 * Finds the page of a ranked search by the plan rule.
 * @returns undefined where the search is to be exact in any case, or only an exact one can tell
 */
export async function readNearest(
  store: Store,
  collection: Collection,
  request: SearchRequest,
  snapshot: Snapshot,
  clock: Clock,
): Promise<NearestPage | undefined> {
  const { rank, rows, start = 0, cursorMark } = request;
  if (rank === undefined || rank.maxDistance !== undefined) return undefined;
  const [first, ...others] = sortOf(request);
  const byScore = first?.name === 'score' && first.direction === 'desc' && others.every(({ name }) => name !== 'score');
  if (!byScore || cursorMark !== undefined || start + rows > DEEPEST) return undefined;
  const described = snapshot.descriptorCounts.get(rank.module) ?? 0;
  if (described <= store.exactDocuments) return undefined;
  rankedTable(rank, snapshot);
  const generation = await currentGeneration(snapshot.tx, snapshot.sqlSchema, rank.module);
  if (generation === undefined) return undefined;
  const finder = await finderOf(store, collection, generation, snapshot.tx);
  const near = finder.byDistance(rank.vector);
  const search = new NearestSearch(request, rank, snapshot, clock, {
    table: cellTable(snapshot.sqlSchema, rank.module, generation.number),
    sizes: generation.sizes,
    order: near.map(({ cell }) => cell),
    distances: near.map(({ distance }) => distance),
    radii: generation.radii,
    described,
  });
  return search.run(store.exactDocuments);
}

/** The rows of some cells that were looked up. */
interface Looked {
  readonly rows: NearestPage['rows'];
  /** How many of the nearest rows were looked up, and how many of them match. */
  readonly seen: number;
  readonly matched: number;
  /** Whether nothing in these cells can be missing on the page. */
  readonly full: boolean;
  /** Whether these are all matches of these cells. */
  readonly all: boolean;
}

class NearestSearch {
  readonly #request: SearchRequest;
  readonly #rank: Rank;
  readonly #snapshot: Snapshot;
  readonly #clock: Clock;
  readonly #cells: Cells;
  readonly #wanted: number;
  #distances = 0;

  constructor(request: SearchRequest, rank: Rank, snapshot: Snapshot, clock: Clock, cells: Cells) {
    this.#request = request;
    this.#rank = rank;
    this.#snapshot = snapshot;
    this.#clock = clock;
    this.#cells = cells;
    // Without a page the best score is still asked for.
    this.#wanted = Math.max(1, (request.start ?? 0) + request.rows);
  }

  async run(exactDocuments: number): Promise<NearestPage | undefined> {
    const { described, order } = this.#cells;
    const params = new Params();
    const { everything } = conditionsOf(this.#request, this.#snapshot, this.#clock, params);
    const matches = everything ? described : await this.#estimate();
    if (!everything && matches <= ESTIMATE_SLIP * exactDocuments) {
      const few = await this.#compareFew(exactDocuments);
      if (few !== undefined) return few;
    }
    const cells = CELLS[this.#rank.smartfilter ?? 'low'];
    const effort = Math.max(cells, (cells * LEAST_SHARE_A_CELL * exactDocuments * order.length) / described);
    if (effort > order.length) return this.#visitAll();
    const near = everything
      ? await this.#visitNear(effort, 1, false)
      : await this.#visitNear(effort, matches / described, true);
    if (near !== undefined) return near;
    const few = matches <= FAR_TIMES * exactDocuments ? await this.#compareFew(FAR_TIMES * exactDocuments) : undefined;
    return few ?? this.#visitOutward(effort);
  }

  /** How many documents match, as the planner estimates it from its statistics, in half a millisecond. */
  async #estimate(): Promise<number> {
    const params = new Params();
    const { where } = conditionsOf(this.#request, this.#snapshot, this.#clock, params);
    const [row] = await this.#snapshot.tx.query(
      `explain (format json) select from ${this.#snapshot.sqlSchema}.documents d where ${where}`,
      params.values,
    );
    const [{ Plan: plan }] = JSON.parse(row?.['QUERY PLAN']) as [{ Plan: { 'Plan Rows': number } }];
    return plan['Plan Rows'];
  }

  /**
   * Step 1. Counts up to the limit and compares in the same statement, 2 to 3 µs a match: in the order in which
   * descriptors lie in their table, which takes less than half the time of any other.
   * @returns undefined when there are more matches
   */
  async #compareFew(most: number): Promise<NearestPage | undefined> {
    const params = new Params();
    const { where } = conditionsOf(this.#request, this.#snapshot, this.#clock, params);
    const { columns, order } = this.#ordered(params);
    const [first, ...others] = await this.#snapshot.tx.query<Counted & { matches: bigint }>(
      `with matches as materialized (
         select * from (
           select ${columns} from ${this.#snapshot.sqlSchema}.documents d where ${where} limit ${most + 1}
         ) m order by m.doc
       ), ranked as materialized (
         select m.*, v.value from matches m
          cross join lateral (select ${distanceTo(this.#rank, params)} as value
                                from ${rankedTable(this.#rank, this.#snapshot)} v where v.doc = m.doc offset 0) v
          where (select count(*) from matches) <= ${most}
       )
       select t.*, m.* from (select (select count(*) from matches) as matches, (select count(*) from ranked) as matched) t
         left join lateral (select * from ranked m order by ${order} limit ${this.#wanted}) m on true order by ${order}`,
      params.values,
    );
    if (first === undefined || first.matches > most) return undefined;
    const found = Number(first.matched);
    this.#distances += found;
    return this.#page([first, ...others], true, found);
  }

  /**
   * Step 2.
   *
   * @param expected which share of the documents match
   * @param filtered whether there are others
   */
  async #visitNear(effort: number, expected: number, filtered: boolean): Promise<NearestPage | undefined> {
    const { order } = this.#cells;
    let share = Math.min(1, expected);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const visited = this.#nearCells(effort * Math.sqrt(Math.max(1, this.#wanted / USUAL_PAGE) / share));
      const looked = await this.#lookInto(visited, this.#lookups(share));
      const found = (looked.matched + 0.5) / (looked.seen + 1);
      const enough = visited.length === order.length || share <= 2 * found;
      if (looked.full && enough) {
        return filtered && this.#isOutside(looked, visited)
          ? undefined
          : this.#page(looked.rows, visited.length === order.length);
      }
      if (visited.length === order.length && looked.all) return this.#page(looked.rows, true);
      // Matches are not where the query is.
      if (found < share / 2) return undefined;
      share = looked.full ? found : Math.min(found, share / 2);
    }
    return undefined;
  }

  /**
   * Whether a filter took what is near, so that the page reaches as far as cells that were not visited. It tells nearly
   * all pages of a recall under 0.9. Without a filter it says little: any query may lie between cells.
   */
  #isOutside({ rows }: Looked, visited: readonly number[]): boolean {
    const last = rows[this.#wanted - 1]?.value ?? 0;
    return last >= (this.#cells.distances[visited.length] ?? Number.POSITIVE_INFINITY);
  }

  /** The nearest cells that together have as many rows as so many cells of usual size, and as many as fill a page. */
  #nearCells(count: number): readonly number[] {
    const { order, sizes, described } = this.#cells;
    const rows = Math.max((count * described) / order.length, this.#wanted);
    let sum = 0;
    const end = order.findIndex((cell) => {
      sum += sizes[cell] as number;
      return sum >= rows;
    });
    return end < 0 ? order : order.slice(0, end + 1);
  }

  /** How many of the nearest rows hold the page where such a share of them matches, with some to spare. */
  #lookups(share: number): number {
    const enough = Math.ceil((2 * this.#wanted) / share) + 50;
    return share === 1 ? enough : Math.max(LEAST_LOOKED_UP, enough);
  }

  /** Step 3. */
  async #visitOutward(effort: number): Promise<NearestPage> {
    const { hits, distances, exact } = await visitOutward(
      {
        ...{ request: this.#request, rank: this.#rank, snapshot: this.#snapshot, clock: this.#clock },
        ...{ cells: this.#cells, wanted: this.#wanted },
      },
      effort,
    );
    this.#distances += distances;
    return this.#page(hits, exact);
  }

  /** For `off`: every row is compared, without a look at documents but for the nearest. */
  async #visitAll(): Promise<NearestPage | undefined> {
    const looked = await this.#lookInto(this.#cells.order, this.#lookups(0.1));
    return looked.full || looked.all ? this.#page(looked.rows, true) : undefined;
  }

  /** Compares all rows of some cells, and looks the nearest of them up in documents. */
  async #lookInto(cells: readonly number[], most: number): Promise<Looked> {
    const params = new Params();
    const { where } = conditionsOf(this.#request, this.#snapshot, this.#clock, params);
    const { columns, order } = this.#ordered(params);
    const some = cells.length === this.#cells.order.length ? '' : `where v.cell = any(${params.add(cells, 'int4[]')})`;
    for (const cell of cells) this.#distances += this.#cells.sizes[cell] as number;
    const [first, ...others] = await this.#snapshot.tx.query<Counted & { seen: bigint; edge: number | null }>(
      `with near as materialized (
         select v.doc, ${distanceTo(this.#rank, params)} as value from ${this.#cells.table} v ${some}
          order by value limit ${most}
       ), hits as materialized (
         select ${columns}, n.value from near n
          cross join lateral (select * from ${this.#snapshot.sqlSchema}.documents d where d.doc = n.doc offset 0) d
          where ${where}
       )
       select t.*, m.* from (select (select count(*) from near) as seen, (select max(value) from near) as edge,
                                    (select count(*) from hits) as matched) t
         left join lateral (select * from hits m order by ${order} limit ${this.#wanted}) m on true order by ${order}`,
      params.values,
    );
    if (first === undefined) throw new Error('counts gave no row');
    const rows = hitsOf([first, ...others]);
    const seen = Number(first.seen);
    // Beyond the edge may be more rows at its very distance, of which a lesser id would come first.
    const last = rows[this.#wanted - 1];
    const all = seen < most;
    const full = last !== undefined && (all || last.value < (first.edge ?? 0));
    return { rows, seen, matched: Number(first.matched), full, all };
  }

  #ordered(params: Params): { columns: string; order: string } {
    return orderOfHits(this.#request, this.#rank, this.#snapshot, params);
  }

  #page(rows: readonly Hit[], exact: boolean, found?: number): NearestPage {
    const hits = hitsOf(rows);
    const { start = 0, rows: count } = this.#request;
    return {
      rows: hits.slice(start, start + count),
      ranking: { exact, distances: this.#distances },
      found,
      best: hits[0]?.value ?? null,
    };
  }
}

/** The planner's estimate may be so many times too high before few matches are overlooked. */
const ESTIMATE_SLIP = 4;
/** Deeper pages take in farther rows, as rarer matches do. */
const USUAL_PAGE = 50;
/**
 * Where matches are far away, so many times as many are compared sooner than looked for: the fewer there are, the farther
 * is the last of the page, and the more cells may have something for it.
 */
const FAR_TIMES = 3;
/** Visits of near cells before other ways are tried. */
const ATTEMPTS = 3;

interface Hit {
  readonly doc: bigint | null;
  readonly id: string | null;
  readonly value: number | null;
}

interface Counted extends Row, Hit {
  readonly matched: bigint;
}

/** Where nothing was hit, counts stand alone in a row. */
function hitsOf(rows: readonly Hit[]): { doc: bigint; id: string; value: number }[] {
  return rows.flatMap(({ doc, id, value }) =>
    doc === null || id === null || value === null ? [] : [{ doc, id, value }],
  );
}
