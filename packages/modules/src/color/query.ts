import { badRequest } from '@akin/domain';
import { addColor, DIMENSIONS, unitVector } from './descriptor.ts';
import { pointOfHex } from './oklab.ts';

export interface WeightedColor {
  /** `#RRGGBB`. */
  readonly hex: string;
  /** Greater than 0; only the ratio to the other weights matters. */
  readonly weight: number;
}

/**
 * The descriptor of a picture with exactly these colours in these shares. A query for one colour has distance 0 to a
 * picture that is entirely of that colour.
 *
 * @throws {AkinError} bad-request when there is no colour.
 */
export function colorQuery(colors: readonly WeightedColor[]): Float32Array {
  if (colors.length === 0) throw badRequest('rank.by.hex names no colour. Write 0xRRGGBB or #RRGGBB.');
  const shares = new Float64Array(DIMENSIONS);
  const scratch = new Float64Array(DIMENSIONS);
  const heaviest = Math.max(...colors.map((color) => color.weight));
  for (const { hex, weight } of colors) {
    const [lightness = 0, a2 = 0, b2 = 0] = pointOfHex(hex);
    // Divided by the largest weight, so that the sum cannot overflow.
    addColor(shares, lightness, a2, b2, weight / heaviest, scratch);
  }
  return unitVector(shares);
}

/** More colours in one query would not change the result noticeably. */
const MAX_COLORS = 64;

/**
 * Parses the value of `rank.by.hex`: colours as `0xRRGGBB` or `#RRGGBB`, separated by commas, each with an optional
 * `:weight` (a decimal number above 0, default 1).
 *
 * @throws {AkinError} bad-request that names the wrong part.
 */
export function parseHexColors(text: string): WeightedColor[] {
  const parts = text.split(',');
  if (parts.length > MAX_COLORS) {
    throw badRequest(`rank.by.hex names ${parts.length} colours; at most ${MAX_COLORS} are read.`);
  }
  return parts.map((part, index) => {
    const match = /^(?:0x|#)([0-9a-f]{6})(?::(.*))?$/i.exec(part.trim());
    if (!match) {
      throw badRequest(
        `rank.by.hex: colour ${index + 1}, ${JSON.stringify(part.trim().slice(0, 40))}, is not 0xRRGGBB or #RRGGBB with an optional :weight.`,
      );
    }
    const [, digits = '', weightText] = match;
    const weight = weightText === undefined ? 1 : parseWeight(weightText.trim());
    if (weight === null) {
      throw badRequest(
        `rank.by.hex: the weight of colour ${index + 1}, ${JSON.stringify(part.trim().slice(0, 40))}, must be a number above 0.`,
      );
    }
    return { hex: `#${digits.toUpperCase()}`, weight };
  });
}

function parseWeight(text: string): number | null {
  if (!/^(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(text)) return null;
  const weight = Number(text);
  return weight > 0 && Number.isFinite(weight) ? weight : null;
}
