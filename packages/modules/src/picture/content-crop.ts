import { cropPixels, type Pixels } from '@akin/imaging';

interface Limits {
  /** A pixel belongs to a plain line if no channel differs by more than this from the line's mean. */
  readonly tolerance: number;
  /** A seam between two pictures: a channel changes by more than `seamStep` on this share of a line. */
  readonly seamShare: number;
}

/** All parameters of the crop. Their names are part of the hash below: renaming one changes the name of the model. */
const RULE = {
  /** Both limits crop what programs add around pictures; often only `loose` crops walls, skies and soft shadows. */
  strict: { tolerance: 5, seamShare: 0.9 } satisfies Limits,
  loose: { tolerance: 11, seamShare: 0.85 } satisfies Limits,
  /** Two crops count as one if no side differs by more than this share of the square. */
  sameShare: 3 / 32,
  /** Maximum share of a line's pixels that may differ: compression causes ringing around plain areas. */
  strayShare: 0.04,
  seamStep: 16,
  /** At this many pixels from a seam, at most this share of a line may change: noise and foliage change everywhere. */
  beside: 3,
  besideShare: 0.8,
  /**
   * One of two halves is chosen only if its variance is this many times that of the other, so that lighting does not
   * change the choice.
   */
  lead: 1.05,
  /** If the variance of the channel sum is below this, a half is plain and not a picture. */
  plainHalf: 10 ** 2,
  /**
   * One of several parts is the picture if it is this many times as long as the next one, and has this share of the
   * total.
   */
  timesTheNext: 1.5,
  leastOfAll: 0.3,
  /** The crop must keep this share of each side; otherwise cropping stops. */
  leastLeft: 0.05,
  /** Maximum number of passes: the crop is cropped again, so that a picture on a page is found. */
  rounds: 4,
};

/** Part of the model's name, because another rule changes the descriptors. */
export const CROP_RULE = JSON.stringify(RULE);

/**
 * Crops a picture to its content. Letterboxes, frames and margins are removed, as well as captions and the bars and
 * texts of a page that plain lines separate from the picture. A picture and a screenshot of it get nearly the same
 * crop.
 * The method is the XY cut of page analysis (Nagy & Seth 1984): plain lines divide the picture into parts; the largest
 * part is kept and divided again. Rows and columns are treated equally, so that a rotated picture is cropped the same
 * way. Before that, if two pictures fill half of the square each, the one with more contrast is kept: it can then be
 * found as a copy, while both together resemble neither.
 * The edge of a plain background is ambiguous in some pictures; recompression or lighting moves it. So there is a
 * strict and a loose crop. If they differ much, both are returned: copies then usually share at least one of them.
 *
 * @param square The picture resized to a small square, in which lines are searched; it is so small that compression
 * noise averages out.
 * @returns One crop, or two: the strict one first.
 */
export function contentCrops(pixels: Pixels, square: Pixels): [Pixels] | [Pixels, Pixels] {
  // If the loose limits find neither plain lines nor seams, the strict limits find none either.
  if (isWhole(square)) return [pixels];
  const strict = cropBox(square, RULE.strict);
  const loose = cropBox(square, RULE.loose);
  const far = RULE.sameShare * square.width;
  const isOne = (Object.keys(strict) as (keyof Box)[]).every((side) => Math.abs(strict[side] - loose[side]) <= far);
  const inner = within(pixels, square, strict);
  return isOne ? [inner] : [inner, within(pixels, square, loose)];
}

function within(pixels: Pixels, square: Pixels, { left, top, right, bottom }: Box): Pixels {
  // Each side is rounded separately, so that a rotated picture is cut at the same places.
  const across = (columns: number) => Math.round((columns * pixels.width) / square.width);
  const down = (rows: number) => Math.round((rows * pixels.height) / square.height);
  const [x, y] = [across(left), down(top)];
  const width = pixels.width - x - across(square.width - right);
  const height = pixels.height - y - down(square.height - bottom);
  return width < 1 || height < 1 || (width === pixels.width && height === pixels.height)
    ? pixels
    : cropPixels(pixels, { left: x, top: y, width, height });
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function boxOf({ width, height }: Pixels): Box {
  return { left: 0, top: 0, right: width, bottom: height };
}

/** True if nothing can be cropped, even by the loose limits. */
function isWhole(square: Pixels): boolean {
  const { beside, above } = seams(square, RULE.loose.seamShare);
  if (beside || above) return false;
  const all = boxOf(square);
  for (let line = 0; line < square.width; line++) {
    if (isRowPlain(square, all, line, RULE.loose.tolerance) || isColumnPlain(square, all, line, RULE.loose.tolerance))
      return false;
  }
  return true;
}

function cropBox(square: Pixels, { tolerance, seamShare }: Limits): Box {
  const { width, height } = square;
  let box = mainHalf(square, seamShare);
  let before = box;
  for (let round = 0; round < RULE.rounds; round++) {
    const { left, top, right, bottom } = box;
    const rows = mainPart(bottom - top, (y) => isRowPlain(square, box, top + y, tolerance));
    const columns = mainPart(right - left, (x) => isColumnPlain(square, box, left + x, tolerance));
    // The main part of the rows and that of the columns may belong to different pictures, and be empty where they
    // cross.
    if (rows === undefined && columns === undefined) return before;
    // Stripes and skies: lines are plain in only one direction.
    if (rows === undefined || columns === undefined) return box;
    if (rows.to - rows.from < RULE.leastLeft * height || columns.to - columns.from < RULE.leastLeft * width) return box;
    before = box;
    box = { left: left + columns.from, top: top + rows.from, right: left + columns.to, bottom: top + rows.to };
    if (box.right - box.left === right - left && box.bottom - box.top === bottom - top) break;
  }
  return box;
}

/**
 * If two pictures of equal size are side by side or one above the other, the half with more contrast; otherwise
 * everything.
 */
function mainHalf(square: Pixels, seamShare: number): Box {
  const all = boxOf(square);
  const { beside, above } = seams(square, seamShare);
  if (beside === above) return all;
  const first = beside ? { ...all, right: square.width >> 1 } : { ...all, bottom: square.height >> 1 };
  const second = beside ? { ...all, left: square.width >> 1 } : { ...all, top: square.height >> 1 };
  const [one, other] = [variance(square, first), variance(square, second)];
  if (Math.min(one, other) < RULE.plainHalf || Math.max(one, other) < RULE.lead * Math.min(one, other)) return all;
  return one > other ? first : second;
}

/** Whether there is a seam in the middle, between left and right (`beside`) and between top and bottom (`above`). */
function seams(square: Pixels, share: number): { beside: boolean; above: boolean } {
  const { width, height } = square;
  return {
    beside: hasSeam((column) => changedShare(square, column, width, 1, height), width >> 1, share),
    above: hasSeam((row) => changedShare(square, row * width, 1, width, width), height >> 1, share),
  };
}

function hasSeam(changed: (line: number) => number, middle: number, share: number): boolean {
  return (
    middle > RULE.beside &&
    changed(middle) > share &&
    changed(middle - RULE.beside) < RULE.besideShare &&
    changed(middle + RULE.beside) < RULE.besideShare
  );
}

/** @param before distance to the earlier pixels, as an index */
function changedShare({ data }: Pixels, from: number, step: number, before: number, length: number): number {
  let changed = 0;
  for (let i = 0, at = 3 * from; i < length; i++, at += 3 * step) {
    const across = (channel: number) =>
      Math.abs((data[at + channel] as number) - (data[at + channel - 3 * before] as number)) > RULE.seamStep;
    if (across(0) || across(1) || across(2)) changed++;
  }
  return changed / length;
}

/** Variance of the brightness (the sum of the channels) in a part of a picture. */
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

/**
 * The largest part between plain lines if it is clearly the largest, otherwise everything from the first to the last
 * part; undefined if all lines are plain.
 */
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
  const stands = length >= RULE.timesTheNext * next && length >= RULE.leastOfAll * (last - first);
  const { from, to } = stands ? largest : { from: first, to: last };
  // Lines next to the cut are a mix of the picture and its surroundings.
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
      if (strays > RULE.strayShare * length) return false;
    }
  }
  return true;
}
