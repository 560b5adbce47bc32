import { type Pixels, resizeArea } from '@akin/imaging';

/** Side of the small version that is analyzed, and of a cell in it. */
const SIDE = 96;
const CELL = SIDE / 3;
const CELL_AREA = CELL * CELL;
/** A pixel is busy when a channel changes by more than this (of 255) over two pixels to the side or down. */
const BUSY_STEP = 20;
/** A cell with more than this share of busy pixels is not calm: text would run over something. */
const BUSY_SHARE = 0.07;
/**
 * A cell is too restless even without edges (grass, gravel, foliage) when its pixels differ on average by more than half
 * of this from the mean of their two neighbours. A soft gradient, however long, does not.
 */
const RESTLESS = 8;
/**
 * Luma from which on black text, and up to which white text has a contrast ratio of 3:1 (WCAG 2.1 for large text) on
 * a gray: (L + 0.05) / 0.05 and 1.05 / (L + 0.05).
 */
const BLACK_TEXT_FROM = 90;
const WHITE_TEXT_TO = 148;
/** One of the two must be readable on all of a cell but this share. */
const UNREADABLE_SHARE = 0.05;

/**
 * The cells of a 3x3 grid (0 top left, 1 top middle … 8 bottom right) calm enough to put text on, rising. A cell is
 * calm when few of its pixels lie on an edge, it has little texture, and black text or white text would be readable
 * nearly everywhere on it. Looks at the picture averaged down to 96x96 (whatever its shape), in whole numbers only.
 */
export function analyzeCopyspace(pixels: Pixels): number[] {
  const { data } = resizeArea(pixels, SIDE, SIDE);
  return [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((cell) => isCalm(data, CELL * (cell % 3), CELL * Math.floor(cell / 3)));
}

function isCalm(data: Uint8Array, left: number, top: number): boolean {
  let busy = 0;
  let unrest = 0;
  let tooDark = 0;
  let tooBright = 0;
  for (let y = top; y < top + CELL; y++) {
    const above = SIDE * Math.max(0, y - 1);
    const below = SIDE * Math.min(SIDE - 1, y + 1);
    for (let x = left; x < left + CELL; x++) {
      const before = SIDE * y + Math.max(0, x - 1);
      const after = SIDE * y + Math.min(SIDE - 1, x + 1);
      const here = SIDE * y + x;
      if (Math.max(stepBetween(data, before, after), stepBetween(data, above + x, below + x)) > BUSY_STEP) busy++;
      unrest += Math.max(bendAt(data, before, here, after), bendAt(data, above + x, here, below + x));
      const luma = lumaOf(data, here);
      if (luma < BLACK_TEXT_FROM) tooDark++;
      if (luma > WHITE_TEXT_TO) tooBright++;
    }
  }
  return (
    busy <= BUSY_SHARE * CELL_AREA &&
    unrest <= RESTLESS * CELL_AREA &&
    Math.min(tooDark, tooBright) <= UNREADABLE_SHARE * CELL_AREA
  );
}

/** The largest change of a channel between two pixels. */
function stepBetween(data: Uint8Array, first: number, second: number): number {
  const a = 3 * first;
  const b = 3 * second;
  return Math.max(
    Math.abs((data[a] as number) - (data[b] as number)),
    Math.abs((data[a + 1] as number) - (data[b + 1] as number)),
    Math.abs((data[a + 2] as number) - (data[b + 2] as number)),
  );
}

/** The largest difference of a channel between twice a pixel and the sum of its two neighbours: 0 on a straight slope. */
function bendAt(data: Uint8Array, before: number, here: number, after: number): number {
  const a = 3 * before;
  const b = 3 * here;
  const c = 3 * after;
  return Math.max(
    Math.abs(2 * (data[b] as number) - (data[a] as number) - (data[c] as number)),
    Math.abs(2 * (data[b + 1] as number) - (data[a + 1] as number) - (data[c + 1] as number)),
    Math.abs(2 * (data[b + 2] as number) - (data[a + 2] as number) - (data[c + 2] as number)),
  );
}

/** Brightness 0…255 (Rec. 601 weights). */
function lumaOf(data: Uint8Array, pixel: number): number {
  const at = 3 * pixel;
  return (77 * (data[at] as number) + 150 * (data[at + 1] as number) + 29 * (data[at + 2] as number)) >> 8;
}
