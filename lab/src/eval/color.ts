import { createRandom } from '@akin/domain';
import { type Pixels, resizeArea } from '@akin/imaging';
import { pointOf, pointOfHex } from '@akin/modules/internal/color/oklab';
import { toRows } from '@akin/modules/internal/learn/rows';
import { colorQuery } from '@akin/modules/vectors';
import { kMeans } from '../learn/kmeans.ts';
import { ciede2000, type Lab, labOf } from './ciede2000.ts';
import type { Described } from './describe.ts';
import { meanOf, rankCorrelation, similarity } from './ranking.ts';

/** The query colours: the basic colours and some between them. */
const HEXES = [
  '#FF0000', '#C02020', '#FF8000', '#FFD800', '#80C020', '#108030', '#20B0B0', '#2060D0',
  '#102060', '#8030A0', '#FF80B0', '#804020', '#E0C8A0', '#FFFFFF', '#808080', '#101010',
]; // biome-ignore format: one line for each half of the colour wheel

/** A pixel matches the query colour if its difference is smaller than this; nearer pixels count more. */
const REACH = 20;
/** CIEDE2000 is at least the difference in lightness divided by 1.75: a larger difference cannot match. */
const LIGHTNESS_REACH = 1.75 * REACH;
const SIDE = 48;
const FIRST = 10;
/** Number of pixels, spread over a picture, that are compared with palettes. */
const PIXELS = 4096;

export interface ColorFigures {
  /**
   * By the name of the descriptor: Spearman's correlation with the true share, and the gain of the first ten results.
   */
  readonly ranking: Readonly<Record<string, { readonly correlation: number; readonly gainAt10: number }>>;
  /** By query colour: the same for `color`, and the first results. */
  readonly byHex: readonly {
    readonly hex: string;
    readonly correlation: number;
    readonly gainAt10: number;
    readonly nearest: readonly number[];
  }[];
  /** Distances in OKLab as scaled by color/oklab.ts (0.02 is just noticeable), means over the pixels. */
  readonly palettes: { readonly own: number; readonly kMeans: number };
}

/**
 * Compares the ranking by one colour with the share of the picture's area that has this colour, and palettes with
 * k-means.
 */
export function measureColor(pictures: readonly Described[]): ColorFigures {
  const labs = pictures.map(({ pixels }) => labsOf(pixels));
  const results: Record<string, { correlation: number[]; gain: number[] }> = {};
  const byHex: { hex: string; correlation: number; gainAt10: number; nearest: number[] }[] = [];
  for (const hex of HEXES) {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
    const target = labOf(red, green, blue);
    const shares = labs.map((pixels) => shareOf(target, pixels));
    const query = colorQuery([{ hex, weight: 1 }]);
    const bin = new Float32Array(64);
    bin[16 * (red >> 6) + 4 * (green >> 6) + (blue >> 6)] = 1;
    const rankings = {
      color: pictures.map(({ vectors }) => similarity(query, vectors.color as Float32Array)),
      'colour histogram': pictures.map(({ vectors }) => similarity(bin, vectors['colour histogram'] as Float32Array)),
    };
    for (const [name, near] of Object.entries(rankings)) {
      const result = results[name] ?? { correlation: [], gain: [] };
      results[name] = result;
      // Pictures without the colour are equally relevant, so their order is ignored.
      const holding = shares
        .map((share, i) => ({ share, near: near[i] as number }))
        .filter(({ share }) => share > 0.01);
      const correlation =
        holding.length < FIRST
          ? Number.NaN
          : rankCorrelation(
              holding.map(({ share }) => share),
              holding.map((one) => one.near),
            );
      const gainAt10 = gain(shares, near);
      result.correlation.push(correlation);
      result.gain.push(gainAt10);
      if (name === 'color') byHex.push({ hex, correlation, gainAt10, nearest: order(near).slice(0, FIRST) });
    }
  }
  return {
    ranking: Object.fromEntries(
      Object.entries(results).map(([name, { correlation, gain }]) => [
        name,
        { correlation: meanOf(correlation), gainAt10: meanOf(gain) },
      ]),
    ),
    byHex,
    palettes: measurePalettes(pictures),
  };
}

/** The share of the area that has a colour, from 0 to 1. */
function shareOf(target: Lab, pixels: readonly Lab[]): number {
  let sum = 0;
  for (const lab of pixels) {
    if (Math.abs(lab[0] - target[0]) > LIGHTNESS_REACH) continue;
    sum += Math.max(0, 1 - ciede2000(lab, target) / REACH);
  }
  return sum / pixels.length;
}

function labsOf(pixels: Pixels): Lab[] {
  const { data } = resizeArea(pixels, SIDE, SIDE);
  return Array.from({ length: SIDE * SIDE }, (_, i) =>
    labOf(data[3 * i] as number, data[3 * i + 1] as number, data[3 * i + 2] as number),
  );
}

/** The colour's share in the first ten results relative to that of the best ten (discounted by rank). */
function gain(shares: readonly number[], near: readonly number[]): number {
  const sum = (pictures: readonly number[]) =>
    pictures
      .slice(0, FIRST)
      .reduce((all, picture, index) => all + (shares[picture] as number) / Math.log2(index + 2), 0);
  return sum(order(near)) / sum(order(shares));
}

/** Indexes by descending value. */
function order(values: readonly number[]): number[] {
  return values.map((_, i) => i).sort((i, j) => (values[j] as number) - (values[i] as number));
}

/**
 * Mean distance of pixels to the nearest colour of a palette: of akin's palette, and of k-means with the same number of
 * colours.
 */
function measurePalettes(pictures: readonly Described[]): ColorFigures['palettes'] {
  const own: number[] = [];
  const kmeans: number[] = [];
  for (const { pixels, values } of pictures) {
    // Skip pictures with a plain background: akin's palette contains only the colours of the subject, so the two are
    // not comparable.
    if (values.color_isolated) continue;
    const { data, width, height } = pixels;
    const all = width * height;
    const points = Array.from({ length: Math.min(PIXELS, all) }, (_, i) => {
      const at = 3 * Math.floor((i * all) / Math.min(PIXELS, all));
      return pointOf(data[at] as number, data[at + 1] as number, data[at + 2] as number);
    });
    const palette = (values.color_palette_hex as readonly string[]).map(pointOfHex);
    const { centers } = kMeans(toRows(points, 3), palette.length, 20, createRandom(1));
    own.push(farFrom(points, palette));
    kmeans.push(
      farFrom(
        points,
        palette.map((_, i) => centers.values.subarray(3 * i, 3 * i + 3)),
      ),
    );
  }
  return { own: meanOf(own), kMeans: meanOf(kmeans) };
}

function farFrom(points: readonly ArrayLike<number>[], palette: readonly ArrayLike<number>[]): number {
  let sum = 0;
  for (const [l, a, b] of points as readonly [number, number, number][]) {
    let nearest = Number.POSITIVE_INFINITY;
    for (const color of palette as readonly [number, number, number][]) {
      nearest = Math.min(nearest, Math.hypot(l - color[0], a - color[1], b - color[2]));
    }
    sum += nearest;
  }
  return sum / points.length;
}
