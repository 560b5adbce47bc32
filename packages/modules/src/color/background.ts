/**
 * A plain background: one colour on most of the border, and all pixels of that colour that are connected to the edges.
 */
export interface Background {
  /** 1 for a pixel of the background, otherwise 0. */
  readonly mask: Uint8Array;
  /** Share of the picture's pixels, 0…1. */
  readonly area: number;
}

/** Maximum distance of border pixels that count as one colour, in units of oklab.ts. */
const BORDER_TOLERANCE = 0.06;
/** Minimum share of the border: a subject may touch one side, or stand on the bottom one. */
const BORDER_SHARE = 0.7;
/**
 * The background may change gradually up to this distance from the border's colour (a lit backdrop, a soft shadow), in
 * steps below STEP.
 */
const DRIFT = 0.14;
const STEP = 0.012;

/**
 * Finds the plain background of a picture. The points are those of oklab.ts, three numbers a pixel. Returns null if the
 * border does not mostly have one colour.
 */
export function findBackground(points: Float32Array, width: number, height: number): Background | null {
  const border = borderPixels(width, height);
  const color = commonColor(points, border);
  const tolerance = tolerance2(points, border, color);
  const mask = floodFromBorder(points, width, height, border, color, tolerance);
  let held = 0;
  for (const pixel of border) held += mask[pixel] as number;
  if (held < BORDER_SHARE * border.length) return null;
  let filled = 0;
  for (let i = 0; i < mask.length; i++) filled += mask[i] as number;
  return { mask, area: filled / mask.length };
}

/** The outermost pixels: two rings if the picture is large enough, otherwise one. */
function borderPixels(width: number, height: number): Int32Array {
  const rings = Math.min(width, height) >= 48 ? 2 : 1;
  const pixels: number[] = [];
  for (let y = 0; y < height; y++) {
    const inner = y >= rings && y < height - rings;
    for (let x = 0; x < width; x++) {
      if (inner && x === rings && width > 2 * rings) x = width - rings;
      pixels.push(y * width + x);
    }
  }
  return Int32Array.from(pixels);
}

/** The colour with the most border pixels around it, replaced by their mean. */
function commonColor(points: Float32Array, border: Int32Array): [number, number, number] {
  const rim = new Float32Array(3 * border.length);
  for (let i = 0; i < border.length; i++) {
    const at = 3 * (border[i] as number);
    for (let c = 0; c < 3; c++) rim[3 * i + c] = points[at + c] as number;
  }
  const stride = Math.max(1, Math.floor(border.length / 96));
  let max = 0;
  let best = 0;
  for (let i = 0; i < border.length; i += stride) {
    const count = countAround(rim, rim[3 * i] as number, rim[3 * i + 1] as number, rim[3 * i + 2] as number);
    if (count <= max) continue;
    max = count;
    best = 3 * i;
  }
  if (max === 0) return [0, 0, 0];
  let { x, y, z, count } = sumAround(rim, rim[best] as number, rim[best + 1] as number, rim[best + 2] as number);
  for (let round = 0; round < 2; round++) {
    const next = sumAround(rim, x / count, y / count, z / count);
    if (next.count === 0) break;
    ({ x, y, z, count } = next);
  }
  return [x / count, y / count, z / count];
}

/** Counts the border pixels near a colour. Hot code: called a hundred times for each picture. */
function countAround(rim: Float32Array, x: number, y: number, z: number): number {
  let count = 0;
  for (let at = 0; at < rim.length; at += 3) {
    const dx = (rim[at] as number) - x;
    const dy = (rim[at + 1] as number) - y;
    const dz = (rim[at + 2] as number) - z;
    if (dx * dx + dy * dy + dz * dz <= BORDER_TOLERANCE * BORDER_TOLERANCE) count++;
  }
  return count;
}

interface Sum {
  x: number;
  y: number;
  z: number;
  count: number;
}

function sumAround(rim: Float32Array, x: number, y: number, z: number): Sum {
  const sum = { x: 0, y: 0, z: 0, count: 0 };
  for (let at = 0; at < rim.length; at += 3) {
    if (distance2(rim, at, x, y, z) > BORDER_TOLERANCE * BORDER_TOLERANCE) continue;
    sum.x += rim[at] as number;
    sum.y += rim[at + 1] as number;
    sum.z += rim[at + 2] as number;
    sum.count++;
  }
  return sum;
}

/**
 * Squared maximum distance from the background's colour. It is larger on a noisy backdrop than on a clean one, where
 * the shading of a white product must not be taken for background.
 */
function tolerance2(points: Float32Array, border: Int32Array, color: readonly [number, number, number]): number {
  const [x, y, z] = color;
  let sum = 0;
  let count = 0;
  for (const pixel of border) {
    const d2 = distance2(points, 3 * pixel, x, y, z);
    if (d2 > BORDER_TOLERANCE * BORDER_TOLERANCE) continue;
    sum += d2;
    count++;
  }
  const spread = count === 0 ? 0 : Math.sqrt(sum / count);
  const tolerance = Math.min(0.02 + 2 * spread, BORDER_TOLERANCE);
  return tolerance * tolerance;
}

/**
 * Region growing from border pixels of the background's colour to neighbours that have this colour or change gradually.
 */
function floodFromBorder(
  points: Float32Array,
  width: number,
  height: number,
  border: Int32Array,
  color: readonly [number, number, number],
  near2: number,
): Uint8Array {
  const [x, y, z] = color;
  const mask = new Uint8Array(width * height);
  const queue = new Int32Array(width * height);
  let filled = 0;
  for (const pixel of border) {
    if (distance2(points, 3 * pixel, x, y, z) > near2) continue;
    mask[pixel] = 1;
    queue[filled++] = pixel;
  }
  for (let next = 0; next < filled; next++) {
    const pixel = queue[next] as number;
    const column = pixel % width;
    const from = 3 * pixel;
    for (let side = 0; side < 4; side++) {
      let neighbour: number;
      if (side === 0) neighbour = column > 0 ? pixel - 1 : -1;
      else if (side === 1) neighbour = column < width - 1 ? pixel + 1 : -1;
      else if (side === 2) neighbour = pixel - width;
      else neighbour = pixel + width;
      if (neighbour < 0 || neighbour >= mask.length || mask[neighbour]) continue;
      const at = 3 * neighbour;
      const d2 = distance2(points, at, x, y, z);
      if (d2 > near2) {
        if (d2 > DRIFT * DRIFT) continue;
        const step2 = distance2(
          points,
          at,
          points[from] as number,
          points[from + 1] as number,
          points[from + 2] as number,
        );
        if (step2 > STEP * STEP) continue;
      }
      mask[neighbour] = 1;
      queue[filled++] = neighbour;
    }
  }
  return mask;
}

function distance2(points: Float32Array, at: number, x: number, y: number, z: number): number {
  const dx = (points[at] as number) - x;
  const dy = (points[at + 1] as number) - y;
  const dz = (points[at + 2] as number) - z;
  return dx * dx + dy * dy + dz * dz;
}
