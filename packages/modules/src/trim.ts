import type { Pixels } from '@akin/imaging';

/** A pixel belongs to a plain line when no channel is further than this from the line's mean. */
const TOLERANCE = 24;
/** So many of a line's pixels may be off: compression makes rings beside what is plain. */
const STRAY_SHARE = 0.02;
/** One of several parts is the picture when it is so many times as long as the next, and has this share of all. */
const TIMES_THE_NEXT = 1.5;
const LEAST_OF_ALL = 0.3;
/** What is left must keep this share of each side; else the picture is taken for a plain one and left whole. */
const LEAST_LEFT = 0.05;
/** Rows and columns are looked at in turns, this often at most. */
const ROUNDS = 3;

/**
 * The picture itself, without what is plain around it: letterboxes, frames, margins of a cut-out; and without captions
 * and the bars and texts of a page that it was put on, as long as plain lines part them from it. Two copies of one
 * picture, one of them within a screenshot, give nearly the same.
 *
 * Known as XY cut in the analysis of pages (Nagy & Seth 1984): lines that are plain all along part what lies between
 * them; of the parts the largest is kept, and looked at anew across.
 *
 * @param square The picture squashed to a small square, in which lines are looked at: small enough that the noise of
 *   compression averages out.
 */
export function trimSurroundings(pixels: Pixels, square: Pixels): Pixels {
  const { left, top, right, bottom } = innerBox(square);
  const across = (x: number) => Math.round((x * pixels.width) / square.width);
  const down = (y: number) => Math.round((y * pixels.height) / square.height);
  const [x, y] = [across(left), down(top)];
  const [width, height] = [across(right) - x, down(bottom) - y];
  return width < 1 || height < 1 ? pixels : cut(pixels, x, y, width, height);
}

/** Sides in pixels; right and bottom are the first pixels outside. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function innerBox(square: Pixels): Box {
  let box: Box = { left: 0, top: 0, right: square.width, bottom: square.height };
  for (let round = 0; round < ROUNDS; round++) {
    const before = box;
    const rows = mainPart(box.bottom - box.top, (y) => isRowPlain(square, box, box.top + y));
    if (rows === undefined || rows.to - rows.from < LEAST_LEFT * square.height) return box;
    box = { ...box, top: box.top + rows.from, bottom: box.top + rows.to };
    const columns = mainPart(box.right - box.left, (x) => isColumnPlain(square, box, box.left + x));
    if (columns === undefined || columns.to - columns.from < LEAST_LEFT * square.width) return box;
    box = { ...box, left: box.left + columns.from, right: box.left + columns.to };
    if (box.bottom - box.top === before.bottom - before.top && box.right - box.left === before.right - before.left)
      break;
  }
  return box;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The largest part between plain lines if it stands out, else all from the first to the last; undefined if all is plain. */
function mainPart(lines: number, isPlain: (line: number) => boolean): Span | undefined {
  let first: number | undefined;
  let last = 0;
  let largest: Span = { from: 0, to: 0 };
  let next = 0;
  for (let line = 0; line < lines; line++) {
    if (isPlain(line)) continue;
    const from = line;
    while (line < lines && !isPlain(line)) line++;
    first ??= from;
    last = line;
    if (line - from > largest.to - largest.from) {
      next = largest.to - largest.from;
      largest = { from, to: line };
    } else {
      next = Math.max(next, line - from);
    }
  }
  if (first === undefined) return undefined;
  const length = largest.to - largest.from;
  return length >= TIMES_THE_NEXT * next && length >= LEAST_OF_ALL * (last - first)
    ? largest
    : { from: first, to: last };
}

function isRowPlain({ width, data }: Pixels, { left, right }: Box, y: number): boolean {
  return isPlain(data, y * width + left, 1, right - left);
}

function isColumnPlain({ width, data }: Pixels, { top, bottom }: Box, x: number): boolean {
  return isPlain(data, top * width + x, width, bottom - top);
}

function isPlain(data: Uint8Array, from: number, step: number, length: number): boolean {
  let red = 0;
  let green = 0;
  let blue = 0;
  for (let i = 0, at = 3 * from; i < length; i++, at += 3 * step) {
    red += data[at] as number;
    green += data[at + 1] as number;
    blue += data[at + 2] as number;
  }
  red /= length;
  green /= length;
  blue /= length;
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
