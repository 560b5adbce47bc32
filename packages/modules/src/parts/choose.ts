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
  let best: readonly Corner[] = corners.slice(0, wanted);
  let [low, high] = [1, Math.max(width, height) / 2];
  for (let step = 0; step < 8; step++) {
    const distance = (low + high) / 2;
    const taken = apart(corners, width, height, distance, wanted);
    if (taken.length >= wanted) {
      best = taken;
      low = distance;
    } else high = distance;
  }
  return best;
}

/** The first corners that have a distance from all before. */
function apart(pool: readonly Corner[], width: number, height: number, distance: number, wanted: number): Corner[] {
  // A cell has room for one corner.
  const cell = distance / Math.SQRT2;
  const columns = Math.ceil(width / cell) + 1;
  const rows = Math.ceil(height / cell) + 1;
  const grid = new Int32Array(columns * rows).fill(-1);
  const taken: Corner[] = [];
  const isFree = ({ x, y }: Corner, column: number, row: number) => {
    for (let r = Math.max(0, row - 2); r <= Math.min(rows - 1, row + 2); r++) {
      for (let c = Math.max(0, column - 2); c <= Math.min(columns - 1, column + 2); c++) {
        const other = taken[grid[r * columns + c] as number];
        if (other !== undefined && (other.x - x) ** 2 + (other.y - y) ** 2 < distance ** 2) return false;
      }
    }
    return true;
  };
  for (const corner of pool) {
    const [column, row] = [Math.floor(corner.x / cell), Math.floor(corner.y / cell)];
    if ((grid[row * columns + column] as number) >= 0 || !isFree(corner, column, row)) continue;
    grid[row * columns + column] = taken.length;
    taken.push(corner);
    if (taken.length === wanted) break;
  }
  return taken;
}
