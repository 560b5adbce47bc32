/**
 * A decoded picture: RGB, 3 bytes a pixel, rows from top to bottom without gaps; upright and flattened on white.
 * Treated as immutable.
 */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** A rectangle of whole pixels inside a picture. */
export interface CropBox {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Copies a rectangle out of a picture. */
export function cropPixels({ width: stride, data }: Pixels, { left, top, width, height }: CropBox): Pixels {
  const cut = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    const from = ((top + y) * stride + left) * 3;
    cut.set(data.subarray(from, from + width * 3), y * width * 3);
  }
  return { width, height, data: cut };
}

/**
 * Resizes by area average: every target pixel is the mean of the source area that it covers; a source pixel on the
 * border counts by its covered share. The aspect ratio is not kept. When enlarging, a target pixel inside one source
 * pixel has its value, and one on a border mixes two or four source pixels by their shares.
 * The result is the exact mean rounded half up, and so the same on every machine: coordinates are scaled by both sizes,
 * which makes all shares integers, and every intermediate sum stays an integer below 2^53 (255 · width · height of the
 * source). The computation is separable and goes row by row: source rows are added into one row of sums, which is then
 * averaged along x.
 *
 * @param width Target width, a positive integer.
 * @param height Target height, a positive integer.
 * @returns New pixels, or `pixels` itself if the size is already the same.
 */
export function resizeArea(pixels: Pixels, width: number, height: number): Pixels {
  const { width: fromWidth, height: fromHeight, data } = pixels;
  assertSize(width, height);
  if (data.length !== fromWidth * fromHeight * 3) throw new RangeError('The pixels do not have 3 bytes each.');
  if (width === fromWidth && height === fromHeight) return pixels;

  const spans = columnSpans(fromWidth, width);
  const sums = new Float64Array(fromWidth * 3);
  const result = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++) {
    sumRows(data, fromWidth * 3, fromHeight, height, row, sums);
    averageColumns(sums, spans, width, fromWidth * fromHeight, result, row * width * 3);
  }
  return { width, height, data: result };
}

/** Adds the source rows that target row `row` covers, weighted by share; the shares add up to `from`. */
function sumRows(data: Uint8Array, stride: number, from: number, to: number, row: number, sums: Float64Array): void {
  const start = row * from;
  const end = start + from;
  const share = (y: number) => Math.max(0, Math.min(end, (y + 1) * to) - Math.max(start, y * to));
  // Up to four rows in one pass, because most of the time is spent on reading and writing the sums; the first pass
  // overwrites them.
  const top = Math.floor(start / to);
  for (let y = top; y * to < end; y += 4) {
    const [a, b, c, d] = [share(y), share(y + 1), share(y + 2), share(y + 3)];
    const first = y * stride;
    const second = b > 0 ? first + stride : first;
    const third = c > 0 ? second + stride : second;
    const fourth = d > 0 ? third + stride : third;
    if (y > top && b === 0) {
      for (let i = 0; i < stride; i++) sums[i] = (sums[i] as number) + a * (data[first + i] as number);
    } else if (y > top) {
      for (let i = 0; i < stride; i++) {
        const upper = a * (data[first + i] as number) + b * (data[second + i] as number);
        const lower = c * (data[third + i] as number) + d * (data[fourth + i] as number);
        sums[i] = (sums[i] as number) + (upper + lower);
      }
    } else if (c === 0) {
      for (let i = 0; i < stride; i++) sums[i] = a * (data[first + i] as number) + b * (data[second + i] as number);
    } else {
      for (let i = 0; i < stride; i++) {
        const upper = a * (data[first + i] as number) + b * (data[second + i] as number);
        const lower = c * (data[third + i] as number) + d * (data[fourth + i] as number);
        sums[i] = upper + lower;
      }
    }
  }
}

/** For each target column: first source column, number of columns, share of the first, share of the last. */
function columnSpans(from: number, to: number): Int32Array {
  const spans = new Int32Array(to * 4);
  for (let column = 0; column < to; column++) {
    const start = column * from;
    const end = start + from;
    const first = Math.floor(start / to);
    const last = Math.ceil(end / to) - 1;
    spans[column * 4] = first;
    spans[column * 4 + 1] = last - first + 1;
    spans[column * 4 + 2] = Math.min(end, (first + 1) * to) - start;
    spans[column * 4 + 3] = end - Math.max(start, last * to);
  }
  return spans;
}

function averageColumns(
  sums: Float64Array,
  spans: Int32Array,
  to: number,
  total: number,
  result: Uint8Array,
  offset: number,
): void {
  const half = total / 2;
  for (let column = 0; column < to; column++) {
    const first = (spans[column * 4] as number) * 3;
    const count = spans[column * 4 + 1] as number;
    const firstShare = spans[column * 4 + 2] as number;
    let red = firstShare * (sums[first] as number);
    let green = firstShare * (sums[first + 1] as number);
    let blue = firstShare * (sums[first + 2] as number);
    if (count > 1) {
      const last = first + (count - 1) * 3;
      let innerRed = 0;
      let innerGreen = 0;
      let innerBlue = 0;
      for (let i = first + 3; i < last; i += 3) {
        innerRed += sums[i] as number;
        innerGreen += sums[i + 1] as number;
        innerBlue += sums[i + 2] as number;
      }
      const lastShare = spans[column * 4 + 3] as number;
      red += to * innerRed + lastShare * (sums[last] as number);
      green += to * innerGreen + lastShare * (sums[last + 1] as number);
      blue += to * innerBlue + lastShare * (sums[last + 2] as number);
    }
    // Rounding half up. The quotient of two integers below 2^53 is either an integer or so far from the next one that
    // the rounding error of the division cannot reach it; storing into bytes drops the fraction.
    const at = offset + column * 3;
    result[at] = (red + half) / total;
    result[at + 1] = (green + half) / total;
    result[at + 2] = (blue + half) / total;
  }
}

function assertSize(width: number, height: number): void {
  if (!(Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0)) {
    throw new RangeError(`A picture cannot be resized to ${width} x ${height}.`);
  }
}
