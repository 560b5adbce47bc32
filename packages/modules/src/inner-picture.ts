import type { Pixels } from '@akin/imaging';

interface Limits {
  /** A pixel belongs to a plain line when no channel is further than this from the line's mean. */
  readonly tolerance: number;
  /** Two pictures meet where a channel changes by more than `SEAM_STEP` on this share of a line. */
  readonly seamShare: number;
}
/**
 * What programs put around pictures and beside them is cut off by both; walls, skies and soft shadows by the loose ones
 * alone or by neither.
 */
const STRICT: Limits = { tolerance: 5, seamShare: 0.9 };
const LOOSE: Limits = { tolerance: 11, seamShare: 0.85 };
/** What they leave is one picture when no side of one lies further from that of the other, as a share of the whole. */
const SAME_SHARE = 3 / 32;
/** So many of a line's pixels may be off: compression makes rings beside what is plain. */
const STRAY_SHARE = 0.04;
const SEAM_STEP = 16;
/** So many pixels beside a seam less than this share of a line changes: noise and foliage change everywhere. */
const BESIDE = 3;
const BESIDE_SHARE = 0.8;
/** Of two pictures one is taken only if it has so many times the variance of the other: light must not change which. */
const LEAD = 1.05;
/** Variance of the sum of the channels below which a half is plain, and no picture. */
const PLAIN_HALF = 10 ** 2;
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
 * them; of the parts the largest is kept, and looked at anew across. Before that, of two pictures that fill a half each
 * the one with more contrast is taken: one of the two is then found as a copy of itself, where both together are like
 * neither.
 *
 * Where plain ends is open in some pictures, and what recompresses or lights one differently decides it differently. So
 * it is asked twice, strictly and loosely. Where the answers are far apart both are given: copies then have at least one
 * of them in common.
 *
 * @param square The picture squashed to a small square, in which lines are looked at: small enough that the noise of
 *   compression averages out.
 * @returns One picture, or two: the strict one first.
 */
export function innerPictures(pixels: Pixels, square: Pixels): Pixels[] {
  const strict = innerBox(square, STRICT);
  const loose = innerBox(square, LOOSE);
  const far = SAME_SHARE * square.width;
  const isOne = (Object.keys(strict) as (keyof Box)[]).every((side) => Math.abs(strict[side] - loose[side]) <= far);
  return (isOne ? [strict] : [strict, loose]).map((box) => within(pixels, square, box));
}

/** The part of all pixels that lies in a box of the square. */
function within(pixels: Pixels, square: Pixels, { left, top, right, bottom }: Box): Pixels {
  // What is cut off at each side is rounded by itself, so that a turned picture is cut at the same places.
  const across = (columns: number) => Math.round((columns * pixels.width) / square.width);
  const down = (rows: number) => Math.round((rows * pixels.height) / square.height);
  const [x, y] = [across(left), down(top)];
  const width = pixels.width - x - across(square.width - right);
  const height = pixels.height - y - down(square.height - bottom);
  return width < 1 || height < 1 ? pixels : cut(pixels, x, y, width, height);
}

/** Sides in pixels; right and bottom are the first pixels outside. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function innerBox(square: Pixels, { tolerance, seamShare }: Limits): Box {
  let box = mainHalf(square, seamShare);
  for (let round = 0; round < ROUNDS; round++) {
    const before = box;
    const rows = mainPart(box.bottom - box.top, (y) => isRowPlain(square, box, box.top + y, tolerance));
    if (rows === undefined || rows.to - rows.from < LEAST_LEFT * square.height) return box;
    box = { ...box, top: box.top + rows.from, bottom: box.top + rows.to };
    const columns = mainPart(box.right - box.left, (x) => isColumnPlain(square, box, box.left + x, tolerance));
    if (columns === undefined || columns.to - columns.from < LEAST_LEFT * square.width) return box;
    box = { ...box, left: box.left + columns.from, right: box.left + columns.to };
    if (box.bottom - box.top === before.bottom - before.top && box.right - box.left === before.right - before.left)
      break;
  }
  return box;
}

/** Of two pictures side by side or one above the other, of one size, the one with more contrast; else all. */
function mainHalf(square: Pixels, seamShare: number): Box {
  const { width, height } = square;
  const all: Box = { left: 0, top: 0, right: width, bottom: height };
  const [middle, center] = [width >> 1, height >> 1];
  const beside = hasSeam((column) => changedShare(square, column, width, 1, height), middle, seamShare);
  const above = hasSeam((row) => changedShare(square, row * width, 1, width, width), center, seamShare);
  if (beside === above) return all;
  const first = beside ? { ...all, right: middle } : { ...all, bottom: center };
  const second = beside ? { ...all, left: middle } : { ...all, top: center };
  const [one, other] = [variance(square, first), variance(square, second)];
  if (Math.min(one, other) < PLAIN_HALF || Math.max(one, other) < LEAD * Math.min(one, other)) return all;
  return one > other ? first : second;
}

/** @param changed The share of a line on which it differs from the one before. */
function hasSeam(changed: (line: number) => number, middle: number, share: number): boolean {
  return (
    middle > BESIDE &&
    changed(middle) > share &&
    changed(middle - BESIDE) < BESIDE_SHARE &&
    changed(middle + BESIDE) < BESIDE_SHARE
  );
}

/** The share of a line's pixels that differ from those before them. @param before How far those are, as an index. */
function changedShare({ data }: Pixels, from: number, step: number, before: number, length: number): number {
  let changed = 0;
  for (let i = 0, at = 3 * from; i < length; i++, at += 3 * step) {
    const across = (channel: number) =>
      Math.abs((data[at + channel] as number) - (data[at + channel - 3 * before] as number)) > SEAM_STEP;
    if (across(0) || across(1) || across(2)) changed++;
  }
  return changed / length;
}

/** Of the brightness in a part of a picture, the sum of the channels taken for it. */
function variance({ width, data }: Pixels, { left, top, right, bottom }: Box): number {
  let sum = 0;
  let squares = 0;
  for (let y = top; y < bottom; y++) {
    for (let at = 3 * (y * width + left); at < 3 * (y * width + right); at += 3) {
      const light = (data[at] as number) + (data[at + 1] as number) + (data[at + 2] as number);
      sum += light;
      squares += light * light;
    }
  }
  const count = (right - left) * (bottom - top);
  return squares / count - (sum / count) ** 2;
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
  const stands = length >= TIMES_THE_NEXT * next && length >= LEAST_OF_ALL * (last - first);
  const { from, to } = stands ? largest : { from: first, to: last };
  // The lines beside what is cut off are mixtures of it and of the picture.
  return { from: from > 0 ? from + 1 : 0, to: to < lines ? to - 1 : lines };
}

function isRowPlain({ width, data }: Pixels, { left, right }: Box, y: number, tolerance: number): boolean {
  return isPlain(data, y * width + left, 1, right - left, tolerance);
}

function isColumnPlain({ width, data }: Pixels, { top, bottom }: Box, x: number, tolerance: number): boolean {
  return isPlain(data, top * width + x, width, bottom - top, tolerance);
}

function isPlain(data: Uint8Array, from: number, step: number, length: number, tolerance: number): boolean {
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
      Math.abs((data[at] as number) - red) > tolerance ||
      Math.abs((data[at + 1] as number) - green) > tolerance ||
      Math.abs((data[at + 2] as number) - blue) > tolerance
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
