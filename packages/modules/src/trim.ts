import { type Pixels, resizeArea } from '@akin/imaging';

/** Long side of the version that is looked at: small enough that the noise of compression averages out. */
const SIDE = 96;
/** A pixel belongs to a bar when no channel is further than this from the bar's colour. */
const TOLERANCE = 24;
/** So many of a line's pixels may be off: compression makes rings beside what the bar surrounds. */
const STRAY_SHARE = 0.02;
/** What is left must keep this share of each side; else the picture is taken for a plain one and left whole. */
const LEAST_LEFT = 0.05;

/**
 * The picture without plain bars along its four sides: letterboxes, frames, margins around a cut-out. The bar of a side
 * has one colour, that of its outermost line. Two copies of one picture, one with bars, give nearly the same.
 */
export function trimBars(pixels: Pixels): Pixels {
  const scale = Math.min(1, SIDE / Math.max(pixels.width, pixels.height));
  const width = Math.max(1, Math.round(scale * pixels.width));
  const height = Math.max(1, Math.round(scale * pixels.height));
  const small = resizeArea(pixels, width, height);
  const row = (y: number) => ({ from: y * width, step: 1, length: width });
  const top = barAt(small, height, row);
  const bottom = barAt(small, height, (y) => row(height - 1 - y));
  if (height - top - bottom < LEAST_LEFT * height) return pixels;
  // Columns are looked at between the bars above and below, which may have another colour.
  const high = height - top - bottom;
  const column = (x: number) => ({ from: top * width + x, step: width, length: high });
  const left = barAt(small, width, column);
  const right = barAt(small, width, (x) => column(width - 1 - x));
  if (width - left - right < LEAST_LEFT * width) return pixels;
  const across = (x: number) => Math.round((x * pixels.width) / width);
  const down = (y: number) => Math.round((y * pixels.height) / height);
  const [x, y] = [across(left), down(top)];
  return cut(pixels, x, y, across(width - right) - x, down(height - bottom) - y);
}

interface Line {
  readonly from: number;
  readonly step: number;
  readonly length: number;
}

/** How many lines of the picture, from the outermost on, are a bar. */
function barAt({ data }: Pixels, lines: number, lineAt: (index: number) => Line): number {
  const color = meanOf(data, lineAt(0));
  let bar = 0;
  while (bar < lines && isPlain(data, lineAt(bar), color)) bar++;
  return bar;
}

function meanOf(data: Uint8Array, { from, step, length }: Line): readonly [number, number, number] {
  let red = 0;
  let green = 0;
  let blue = 0;
  for (let i = 0, at = 3 * from; i < length; i++, at += 3 * step) {
    red += data[at] as number;
    green += data[at + 1] as number;
    blue += data[at + 2] as number;
  }
  return [red / length, green / length, blue / length];
}

function isPlain(
  data: Uint8Array,
  { from, step, length }: Line,
  [red, green, blue]: readonly [number, number, number],
) {
  let strays = 0;
  for (let i = 0, at = 3 * from; i < length; i++, at += 3 * step) {
    if (
      Math.abs((data[at] as number) - red) > TOLERANCE ||
      Math.abs((data[at + 1] as number) - green) > TOLERANCE ||
      Math.abs((data[at + 2] as number) - blue) > TOLERANCE
    ) {
      strays++;
      if (strays > STRAY_SHARE * length) return false;
    }
  }
  return true;
}

function cut(pixels: Pixels, left: number, top: number, width: number, height: number): Pixels {
  if (width === pixels.width && height === pixels.height) return pixels;
  const data = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++) {
    const from = 3 * ((top + y) * pixels.width + left);
    data.set(pixels.data.subarray(from, from + 3 * width), 3 * y * width);
  }
  return { width, height, data };
}
