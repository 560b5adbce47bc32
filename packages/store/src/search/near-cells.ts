import { cellTable, currentGeneration, finderOf } from '../cells/generations.ts';
import type { Collection, Store } from '../context.ts';
import { rankedTable } from './matching.ts';
import type { SearchRequest } from './request.ts';
import type { NearCells, Snapshot } from './snapshot.ts';

/** Distances computed here and by the database differ by rounding. */
const ROUNDING = 1e-3;

/**
 * The cells that a search with a greatest distance has to look into to be exact: by the triangle inequality, a row of
 * a cell is no nearer than the cell's centroid less the cell's radius.
 *
 * @returns undefined where that would save nothing
 */
export async function findNearCells(
  store: Store,
  collection: Collection,
  { rank }: SearchRequest,
  snapshot: Snapshot,
): Promise<NearCells | undefined> {
  if (rank?.maxDistance === undefined || (snapshot.descriptorCounts.get(rank.module) ?? 0) <= store.exactDocuments) {
    return undefined;
  }
  rankedTable(rank, snapshot);
  const { maxDistance, module, vector } = rank;
  const generation = await currentGeneration(snapshot.tx, snapshot.sqlSchema, module);
  if (generation === undefined) return undefined;
  const { sizes, radii, number } = generation;
  const finder = await finderOf(store, collection, generation, snapshot.tx);
  const cells = finder
    .byDistance(vector)
    .filter(({ cell, distance }) => distance - (radii[cell] as number) <= maxDistance + ROUNDING)
    .map(({ cell }) => cell);
  const rows = cells.reduce((sum, cell) => sum + (sizes[cell] as number), 0);
  return { table: cellTable(snapshot.sqlSchema, module, number), cells, rows };
}
