/** A part of a picture as fractions of its upright sides: the upper left corner, and the size. */
export interface Region {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const FRACTION = ' *(\\+?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?) *';
const REGION = new RegExp(`^${[FRACTION, FRACTION, FRACTION, FRACTION].join(',')}$`);
/** The sum of two rounded fractions may exceed 1 by this much. */
const ROUNDING = 1e-9;

/** Parses `x,y,w,h`. Returns null if the text has another form, or the region is empty or leaves the picture. */
export function parseRegion(text: string): Region | null {
  const found = text.length > 200 ? null : REGION.exec(text);
  if (found === null) return null;
  const [x, y, width, height] = found.slice(1).map(Number) as [number, number, number, number];
  const fits = (from: number, size: number) => size > 0 && from + size <= 1 + ROUNDING;
  return fits(x, width) && fits(y, height) ? { x, y, width, height } : null;
}
