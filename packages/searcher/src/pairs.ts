import { type Bits, createBits, setBit } from './bits.ts';
import type { Cells } from './cells.ts';
import type { CodeTable } from './code-table.ts';
import { FloatVectors } from './floats.ts';
import type { RowTable } from './row-table.ts';

/** Asks which rows are near each of many vectors. Only rows with a cell are compared, for all commits. */
export interface PairsQuery {
  readonly module: string;
  /** All vectors, one after another. */
  readonly vectors: Float32Array;
  /**
   * The cells of the first vector, then those of the second, and so on; those of vector `i` end before `ends[i]`. A
   * vector has no cell twice.
   */
  readonly cells: Int32Array;
  readonly ends: Int32Array;
  readonly maxDistance: number;
  /** Maximum number of pairs: more would not be used. */
  readonly maxPairs: number;
}

/** All pairs that are within the distance, and a few that are slightly farther apart. */
export interface NearPairs {
  /** Whether there are more pairs than `maxPairs`; then none are returned. */
  readonly isOverLimit: boolean;
  /** For each pair: the index of the vector in the query, and the document. */
  readonly queries: Int32Array;
  readonly docs: Float64Array;
}

/** The rows that are compared: the memory is used again, and grows to the number of rows. */
let rows = new Uint32Array(1_024);

/** Maximum error of squared distances in half precision. */
const SLACK = 1e-5;

/** Finds the pairs by bounds of the distances, so that no pair can be missed. */
export function findPairs(
  table: RowTable,
  vectors: FloatVectors | CodeTable,
  cells: Cells,
  query: PairsQuery,
): NearPairs {
  const { ends, maxDistance, maxPairs } = query;
  const max = maxDistance ** 2 + SLACK;
  const dimensions = ends.length === 0 ? 0 : query.vectors.length / ends.length;
  const [queries, docs]: [number[], number[]] = [[], []];
  if (rows.length < table.count) rows = new Uint32Array(Math.max(table.count, 2 * rows.length));
  for (let i = 0; i < ends.length && docs.length <= maxPairs; i++) {
    const asked = query.cells.subarray(i === 0 ? 0 : ends[i - 1], ends[i]);
    const count = cells.rowsIn(asked, rows);
    if (count === 0) continue;
    const vector = query.vectors.subarray(i * dimensions, (i + 1) * dimensions);
    const take = (row: number, low: number) => {
      if (low > max) return;
      queries.push(i);
      docs.push(table.docOf(row));
    };
    const some = rows.subarray(0, count);
    if (vectors instanceof FloatVectors) vectors.compare(vector, bitsOf(some, table.count), take);
    else vectors.compare(vectors.coder.numbers(vector), some, take, { boundKind: 'low', bound: max });
  }
  const isOverLimit = docs.length > maxPairs;
  return {
    isOverLimit,
    queries: Int32Array.from(isOverLimit ? [] : queries),
    docs: Float64Array.from(isOverLimit ? [] : docs),
  };
}

function bitsOf(rows: Uint32Array, count: number): Bits {
  const bits = createBits(count);
  for (const row of rows) setBit(bits, row);
  return bits;
}
