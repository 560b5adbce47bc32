/** A corner that may become a point. */
export interface Corner {
  /** Level of the pyramid, 0 for the finest. */
  readonly level: number;
  readonly x: number;
  readonly y: number;
  /** The higher, the better it is found again. */
  readonly response: number;
}

/** In pixels. */
export interface LevelSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Chooses points: finer levels get more of them, by their length; each level some of its strongest ones, evenly spread.
 *
 * @param factor between the sides of two levels
 * @param pool how many of the strongest corners of a level points are chosen from, for each point: the more, the more
 * even they lie
 */
export function choosePoints(
  corners: readonly Corner[],
  levels: readonly LevelSize[],
  max: number,
  factor: number,
  pool: number,
): Corner[] {
  const byLevel = levels.map((): Corner[] => []);
  for (const corner of corners) byLevel[corner.level]?.push(corner);
  let left = max;
  let weights = levels.reduce((sum, _, level) => sum + factor ** -level, 0);
  const chosen: Corner[] = [];
  // The coarsest first, so that the finer ones get what they lack.
  for (let level = levels.length - 1; level >= 0; level--) {
    const weight = factor ** -level;
    const wanted = Math.min(left, Math.round((left * weight) / weights));
    weights -= weight;
    const own = strongest(byLevel[level] as Corner[], pool * wanted);
    const taken = spread(own, levels[level] as LevelSize, wanted);
    left -= taken.length;
    chosen.push(...taken);
  }
  return chosen;
}

/** The strongest corners, strongest first. */
function strongest(corners: Corner[], count: number): Corner[] {
  const responses = Float64Array.from(corners, ({ response }) => response).sort();
  const least = responses[responses.length - count] ?? 0;
  return corners
    .filter(({ response }) => response >= least)
    .sort((a, b) => b.response - a.response || a.y - b.y || a.x - b.x)
    .slice(0, count);
}

/** Some of the corners, strongest first, with the greatest distance between them that allows as many. */
function spread(corners: readonly Corner[], { width, height }: LevelSize, wanted: number): readonly Corner[] {
  if (corners.length <= wanted) return corners;
  const xs = Float64Array.from(corners, ({ x }) => x);
  const ys = Float64Array.from(corners, ({ y }) => y);
  let best: readonly Corner[] = corners.slice(0, wanted);
  let [low, high] = [1, Math.max(width, height) / 2];
  for (let step = 0; step < 8; step++) {
    const distance = (low + high) / 2;
    const taken = apart(xs, ys, { width, height }, distance, wanted);
    if (taken.length >= wanted) {
      best = taken.map((i) => corners[i] as Corner);
      low = distance;
    } else high = distance;
  }
  return best;
}

/** The indices of the first points that have a distance from all before. */
function apart(
  xs: Float64Array,
  ys: Float64Array,
  { width, height }: LevelSize,
  distance: number,
  wanted: number,
): number[] {
  // A cell has room for one point. Two cells around the picture stay free.
  const cell = distance / Math.SQRT2;
  const columns = Math.ceil(width / cell) + 5;
  const grid = new Int32Array(columns * (Math.ceil(height / cell) + 5)).fill(-1);
  const near = NEAR_CELLS.map(([column, row]) => row * columns + column);
  const taken: number[] = [];
  const isFree = (i: number, at: number) => {
    if ((grid[at] as number) >= 0) return false;
    for (const step of near) {
      const other = grid[at + step] as number;
      if (other < 0) continue;
      const x = (xs[other] as number) - (xs[i] as number);
      const y = (ys[other] as number) - (ys[i] as number);
      if (x * x + y * y < distance * distance) return false;
    }
    return true;
  };
  for (let i = 0; i < xs.length && taken.length < wanted; i++) {
    const at = (Math.floor((ys[i] as number) / cell) + 2) * columns + Math.floor((xs[i] as number) / cell) + 2;
    if (!isFree(i, at)) continue;
    grid[at] = i;
    taken.push(i);
  }
  return taken;
}

/** The cells in which a point can be too near to one in the middle: all but the corners of a square. */
const NEAR_CELLS = [-2, -1, 0, 1, 2].flatMap((row) =>
  [-2, -1, 0, 1, 2]
    .filter((column) => Math.abs(row) + Math.abs(column) < 4 && (row !== 0 || column !== 0))
    .map((column): [column: number, row: number] => [column, row]),
);
