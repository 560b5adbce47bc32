import type { Row } from '../engine/engine.ts';
import type { Clock } from './date-math.ts';
import { conditionsOf, distanceTo } from './matching.ts';
import { Params } from './params.ts';
import { type Rank, type SearchRequest, sortOf } from './request.ts';
import { rankKeys } from './score-keys.ts';
import type { Snapshot } from './snapshot.ts';
import { keyColumn, orderBy, sortKeys } from './sort.ts';

/**
 * A cell is passed over when its centroid, less this part of the radius, is farther than the last of the page. With the
 * whole radius nothing would be missed, and nothing passed over: few rows are as far from the centroid as the radius,
 * and hardly one in the direction of the query. Of 1,000,000 documents under twelve filters that leave out what is near,
 * the worst recall was 0.90 with a tenth, 0.97 with 0.15, 0.99 with 0.2; each step about doubles the rows.
 */
const REACH = 0.2;

/** The cells of the current generation. */
export interface Cells {
  readonly table: string;
  /** Rows of each cell, about. */
  readonly sizes: Int32Array;
  /** The nearest first. */
  readonly order: readonly number[];
  /** How far the centroid of each is, in that order. */
  readonly distances: readonly number[];
  /** No row of a cell is farther from its centroid. */
  readonly radii: Float32Array;
  /** How many documents have a descriptor. */
  readonly described: number;
}

/** A search for the nearest among cells. */
export interface CellSearch {
  readonly request: SearchRequest;
  readonly rank: Rank;
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  readonly cells: Cells;
  /** How many of the nearest are asked for. */
  readonly wanted: number;
}

export interface Nearby {
  readonly doc: bigint;
  readonly id: string;
  readonly value: number;
}

/**
 * Step 3 of the plan rule (see nearest.ts): batches of cells from the near to the far. The better the page becomes, the
 * fewer of those that are left can have something for it.
 *
 * @param effort rows of so many cells make the first batch
 * @returns the nearest matches, whether none can be missed, and how many distances were computed
 */
export async function visitOutward(
  search: CellSearch,
  effort: number,
): Promise<{ hits: readonly Nearby[]; exact: boolean; distances: number }> {
  const { order, sizes, distances, radii, described } = search.cells;
  let hits: readonly Nearby[] = [];
  let passedOver = false;
  let compared = 0;
  let rows = (effort * described) / order.length;
  for (let at = 0; at < order.length; rows *= 2) {
    const farthest = hits[search.wanted - 1]?.value ?? Number.POSITIVE_INFINITY;
    const batch: number[] = [];
    let sum = 0;
    for (; at < order.length && sum < rows; at++) {
      const cell = order[at] as number;
      if ((distances[at] as number) - REACH * (radii[cell] as number) > farthest) {
        passedOver = true;
        continue;
      }
      batch.push(cell);
      sum += sizes[cell] as number;
    }
    compared += sum;
    if (batch.length > 0) hits = await lookFrom(search, hits, batch);
  }
  return { hits, exact: !passedOver, distances: compared };
}

/** The nearest matches of some cells and of those that were found before. */
async function lookFrom(
  { request, rank, snapshot, clock, cells, wanted }: CellSearch,
  before: readonly Nearby[],
  batch: readonly number[],
): Promise<readonly Nearby[]> {
  const params = new Params();
  const { where } = conditionsOf(request, snapshot, clock, params);
  const { columns, order } = orderOfHits(request, rank, snapshot, params);
  const docs = params.add(
    before.map(({ doc }) => doc),
    'int8[]',
  );
  const values = params.add(
    before.map(({ value }) => value),
    'float8[]',
  );
  // One after the other, the nearest first, are looked up in documents, and only until the page is full.
  const farthest = before[wanted - 1]?.value;
  return snapshot.tx.query<Nearby & Row>(
    `select m.doc, m.id, m.value from (
         select ${columns}, n.value from (
           select n.doc, n.value from (
             select v.doc, ${distanceTo(rank, params)} as value
               from ${cells.table} v where v.cell = any(${params.add(batch, 'int4[]')}) offset 0
           ) n ${farthest === undefined ? '' : `where n.value <= ${params.add(farthest, 'float8')}`}
           union all select * from unnest(${docs}, ${values})
           order by value offset 0
         ) n cross join lateral (select * from ${snapshot.sqlSchema}.documents d where d.doc = n.doc offset 0) d
          where ${where} order by n.value fetch first ${wanted} rows with ties
       ) m order by ${order} limit ${wanted}`,
    params.values,
  );
}

/** What is selected of a hit besides its distance, and the order of hits. */
export function orderOfHits(
  request: SearchRequest,
  rank: Rank,
  snapshot: Snapshot,
  params: Params,
): { columns: string; order: string } {
  const keys = sortKeys(sortOf(request), () => rankKeys(rank, params), snapshot, params);
  const columns = keys.flatMap((key, i) => (key.sql === null ? [] : [`${key.sql} as ${keyColumn(key, i)}`]));
  return { columns: ['d.doc', 'd.id', ...columns].join(', '), order: orderBy(keys) };
}
