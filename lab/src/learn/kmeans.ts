import { type Rows, row } from '@akin/modules/internal/learn/rows';

export interface Clusters {
  readonly centers: Rows;
  /** Index of the nearest center, for each row. */
  readonly nearest: Uint32Array;
}

/**
 * k-means: initialized by k-means++ (Arthur & Vassilvitskii 2007), then Lloyd's iterations. A center that loses all its
 * rows moves to the row that is farthest from its center. With fewer rows than `k` some centers are equal.
 */
export function kMeans(rows: Rows, k: number, iterations: number, random: () => number): Clusters {
  const centers: Rows = { count: k, width: rows.width, values: new Float32Array(k * rows.width) };
  seed(rows, centers, random);
  const nearest = new Uint32Array(rows.count);
  const distances = new Float64Array(rows.count);
  for (let i = 0; i < iterations; i++) {
    assign(rows, centers, nearest, distances);
    if (!moveCenters(rows, centers, nearest, distances)) break;
  }
  assign(rows, centers, nearest, distances);
  return { centers, nearest };
}

function seed(rows: Rows, centers: Rows, random: () => number): void {
  const distances = new Float64Array(rows.count).fill(Number.POSITIVE_INFINITY);
  let pick = Math.floor(random() * rows.count);
  for (let c = 0; c < centers.count; c++) {
    centers.values.set(row(rows, pick), c * rows.width);
    let total = 0;
    for (let i = 0; i < rows.count; i++) {
      distances[i] = Math.min(distances[i] as number, squaredDistance(rows, i, centers, c));
      total += distances[i] as number;
    }
    let left = random() * total;
    for (pick = 0; pick < rows.count - 1; pick++) {
      left -= distances[pick] as number;
      if (left < 0) break;
    }
  }
}

function assign(rows: Rows, centers: Rows, nearest: Uint32Array, distances: Float64Array): void {
  for (let i = 0; i < rows.count; i++) {
    let best = Number.POSITIVE_INFINITY;
    for (let c = 0; c < centers.count; c++) {
      const distance = squaredDistance(rows, i, centers, c);
      if (distance < best) {
        best = distance;
        nearest[i] = c;
      }
    }
    distances[i] = best;
  }
}

/** Returns false if no center moved. */
function moveCenters(rows: Rows, centers: Rows, nearest: Uint32Array, distances: Float64Array): boolean {
  const { width } = rows;
  const sums = new Float64Array(centers.values.length);
  const counts = new Uint32Array(centers.count);
  for (let i = 0; i < rows.count; i++) {
    const c = nearest[i] as number;
    counts[c] = (counts[c] as number) + 1;
    for (let j = 0; j < width; j++) {
      sums[c * width + j] = (sums[c * width + j] as number) + (rows.values[i * width + j] as number);
    }
  }
  let moved = false;
  for (let c = 0; c < centers.count; c++) {
    const count = counts[c] as number;
    const center =
      count > 0
        ? Float32Array.from(sums.subarray(c * width, (c + 1) * width), (sum) => sum / count)
        : row(rows, takeFarthest(distances)).slice();
    moved ||= center.some((value, j) => value !== centers.values[c * width + j]);
    centers.values.set(center, c * width);
  }
  return moved;
}

function takeFarthest(distances: Float64Array): number {
  let worst = 0;
  for (let i = 1; i < distances.length; i++) {
    if ((distances[i] as number) > (distances[worst] as number)) worst = i;
  }
  distances[worst] = 0;
  return worst;
}

function squaredDistance(rows: Rows, i: number, centers: Rows, c: number): number {
  const { width } = rows;
  const a = rows.values;
  const b = centers.values;
  let sum = 0;
  for (let x = i * width, y = c * width, end = x + width; x < end; x++, y++) {
    const difference = (a[x] as number) - (b[y] as number);
    sum += difference * difference;
  }
  return sum;
}
