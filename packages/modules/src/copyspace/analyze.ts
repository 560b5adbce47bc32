import { type Pixels, resizeArea } from '@akin/imaging';

/** Side of the reduced picture that is analyzed, and of a cell in it. */
const SIDE = 96;
const CELL = SIDE / 3;
/**
 * Edges are allowed near the border of a cell: text does not reach there, and objects of the next cell may overlap by a
 * pixel or two.
 */
const MARGIN = 3;
const AREA = (CELL - 2 * MARGIN) ** 2;
/**
 * Kernel of a blur that is applied horizontally and vertically; weights are divided by this sum. Scaling and
 * compression change the finest details of a picture, and the blur removes these.
 */
const BLUR = [1, 2, 1] as const;
const UNIT = 16;
/**
 * A pixel is on an edge if a channel changes by more than this (of 255) over two pixels, horizontally or vertically.
 */
const BUSY_STEP = 16 * UNIT;
/** A cell with a larger share of edge pixels is not free: text would cover an object. */
const BUSY_SHARE = 0.08;
/**
 * A cell without edges can still have too much texture (grass, gravel, foliage): its pixels differ on average by more
 * than half of this from the mean of their two neighbours. A soft gradient of any length does not.
 */
const TEXTURE_LIMIT = 4 * UNIT;
/**
 * Limits of luma on a gray: black text has a contrast ratio of 3:1 (WCAG 2.1 for large text) above the first, white
 * text below the second: (L + 0.05) / 0.05 and 1.05 / (L + 0.05).
 */
const BLACK_TEXT_FROM = 90;
const WHITE_TEXT_TO = 148;
/** Either black or white text must be readable on all of a cell except this share. */
const UNREADABLE_SHARE = 0.05;
/**
 * The middle cell is the subject if its mean differs in some channel by more than this from the means of all four
 * sides: a plain shirt on a plain background has no edges, but is no place for text.
 */
const MIDDLE = 4;
const STANDS_OUT = 64 * UNIT;

/**
 * The cells of a 3x3 grid (0 top left, 1 top middle … 8 bottom right) that are free enough for text, in ascending
 * order. A cell is free if few of its pixels lie on an edge, it has little texture, black or white text would be
 * readable nearly everywhere on it, and it is not a plain subject in the middle. The picture is averaged down to 96x96
 * (for any aspect ratio) and slightly blurred, in integer arithmetic.
 *
 * @param pixels A picture, or a reduced version of it: the module uses the square that other modules need, too.
 */
export function analyzeCopyspace(pixels: Pixels): number[] {
  blur(resizeArea(pixels, SIDE, SIDE).data);
  return [0, 1, 2, 3, 4, 5, 6, 7, 8].filter(
    (cell) =>
      isFree(soft, CELL * (cell % 3), CELL * Math.floor(cell / 3)) && !(cell === MIDDLE && middleStandsOut(soft)),
  );
}

/**
 * Reused for each picture, to avoid garbage collection: no `await` is allowed between filling them and the last use.
 */
const soft = new Int32Array(3 * SIDE * SIDE);
const blurredAcross = new Int32Array(3 * SIDE * SIDE);

/** Fills `soft` with weighted sums, `UNIT` times as large as bytes; at the border the last pixels count twice. */
function blur(data: Uint8Array): void {
  soft.set(data);
  blurAlong(soft, 3, 3 * SIDE, blurredAcross);
  blurAlong(blurredAcross, 3 * SIDE, 3, soft);
}

/** @param step Index distance between pixels of a line. @param nextLine Index distance between lines. */
function blurAlong(values: Int32Array, step: number, nextLine: number, result: Int32Array): void {
  const [before, here, after] = BLUR;
  for (let line = 0; line < SIDE; line++) {
    for (let i = 0; i < SIDE; i++) {
      const at = line * nextLine + i * step;
      const left = i === 0 ? at : at - step;
      const right = i === SIDE - 1 ? at : at + step;
      for (let c = 0; c < 3; c++) {
        result[at + c] =
          before * (values[left + c] as number) +
          here * (values[at + c] as number) +
          after * (values[right + c] as number);
      }
    }
  }
}

function isFree(data: Int32Array, left: number, top: number): boolean {
  let busy = 0;
  let texture = 0;
  let tooDark = 0;
  let tooBright = 0;
  for (let y = top + MARGIN; y < top + CELL - MARGIN; y++) {
    for (let x = left + MARGIN; x < left + CELL - MARGIN; x++) {
      const at = 3 * (SIDE * y + x);
      let step = 0;
      let bend = 0;
      for (let c = at; c < at + 3; c++) {
        const [left, right] = [data[c - 3] as number, data[c + 3] as number];
        const [above, below] = [data[c - 3 * SIDE] as number, data[c + 3 * SIDE] as number];
        const twice = 2 * (data[c] as number);
        step = Math.max(step, Math.abs(left - right), Math.abs(above - below));
        // Twice a pixel minus its two neighbours: 0 on a linear gradient.
        bend = Math.max(bend, Math.abs(twice - left - right), Math.abs(twice - above - below));
      }
      if (step > BUSY_STEP) busy++;
      texture += bend;
      const luma = lumaOf(data, at);
      if (luma < BLACK_TEXT_FROM) tooDark++;
      if (luma > WHITE_TEXT_TO) tooBright++;
    }
    if (busy > BUSY_SHARE * AREA || texture > TEXTURE_LIMIT * AREA) return false;
  }
  return Math.min(tooDark, tooBright) <= UNREADABLE_SHARE * AREA;
}

/** Each side is a strip as wide as a margin. */
function middleStandsOut(data: Int32Array): boolean {
  const far = SIDE - MARGIN;
  const middle = meanOf(data, CELL + MARGIN, CELL + MARGIN, 2 * CELL - MARGIN, 2 * CELL - MARGIN);
  const sides = [
    meanOf(data, 0, 0, SIDE, MARGIN),
    meanOf(data, 0, far, SIDE, SIDE),
    meanOf(data, 0, 0, MARGIN, SIDE),
    meanOf(data, far, 0, SIDE, SIDE),
  ];
  return sides.every((side) => side.some((value, c) => Math.abs(value - (middle[c] as number)) > STANDS_OUT));
}

function meanOf(data: Int32Array, left: number, top: number, right: number, bottom: number): number[] {
  const sums = [0, 0, 0];
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      for (let c = 0; c < 3; c++) sums[c] = (sums[c] as number) + (data[3 * (SIDE * y + x) + c] as number);
    }
  }
  return sums.map((sum) => sum / ((right - left) * (bottom - top)));
}

/** Brightness 0…255 (Rec. 601 weights). */
function lumaOf(data: Int32Array, at: number): number {
  const sum = 77 * (data[at] as number) + 150 * (data[at + 1] as number) + 29 * (data[at + 2] as number);
  return Math.floor(sum / (256 * UNIT));
}
