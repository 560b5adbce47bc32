/** A part of a picture: fractions of its width and height, from the top left corner. */
export interface Region {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** A smaller part has too few pixels to be compared. */
const MIN_SIDE = 0.05;
/** Digits of a fraction in URLs: less than a pixel of any photo. */
const DIGITS = 4;

export const MIDDLE: Region = { x: 0.25, y: 0.25, w: 0.5, h: 0.5 };

const clamp = (value: number, min: number, max: number) => Math.min(max, Math.max(min, value));

export function moveRegion({ x, y, w, h }: Region, byX: number, byY: number): Region {
  return { x: clamp(x + byX, 0, 1 - w), y: clamp(y + byY, 0, 1 - h), w, h };
}

/** Makes a part larger or smaller; its top left corner stays. */
export function resizeRegion({ x, y, w, h }: Region, byX: number, byY: number): Region {
  return { x, y, w: clamp(w + byX, MIN_SIDE, 1 - x), h: clamp(h + byY, MIN_SIDE, 1 - y) };
}

/** The part between two points, which may lie outside of the picture. */
export function regionBetween(
  one: { readonly x: number; readonly y: number },
  other: { readonly x: number; readonly y: number },
): Region {
  const side = (a: number, b: number): [start: number, length: number] => {
    const [from, to] = [clamp(Math.min(a, b), 0, 1), clamp(Math.max(a, b), 0, 1)];
    const length = Math.max(to - from, MIN_SIDE);
    return [Math.min(from, 1 - length), length];
  };
  const [x, w] = side(one.x, other.x);
  const [y, h] = side(one.y, other.y);
  return { x, y, w, h };
}

/** A part as akin reads it. It never reaches out of the picture, whatever is rounded. */
export function regionText({ x, y, w, h }: Region): string {
  const scale = 10 ** DIGITS;
  const side = (start: number, length: number) => {
    const from = Math.min(Math.floor(start * scale), scale - 1);
    return [from, clamp(Math.round(length * scale), 1, scale - from)].map((value) => value / scale);
  };
  const [[left, width], [top, height]] = [side(x, w), side(y, h)];
  return [left, top, width, height].join(',');
}

/** @returns undefined for a text that is no part of a picture */
export function readRegion(text: string | null): Region | undefined {
  const numbers = (text ?? '').split(',').map((one) => (/^\d*\.?\d+$/.test(one) ? Number(one) : Number.NaN));
  const [x = Number.NaN, y = Number.NaN, w = Number.NaN, h = Number.NaN] = numbers;
  const isInside = numbers.length === 4 && w > 0 && h > 0 && x + w <= 1 + 1e-9 && y + h <= 1 + 1e-9;
  return isInside ? { x, y, w, h } : undefined;
}

/** The style of a picture of which a box of the same shape shows only a part. */
export function cutOutStyle({ x, y, w, h }: Region): string {
  const percent = (value: number) => `${(value * 100).toFixed(2)}%`;
  return `width: ${percent(1 / w)}; height: ${percent(1 / h)}; left: ${percent(-x / w)}; top: ${percent(-y / h)}`;
}
