import { type Picture, SQUARE } from '../picture/picture.ts';
import { type Background, findBackground } from './background.ts';
import { collectColors, writePoints } from './colors.ts';
import { addColor, DIMENSIONS, unitVector } from './descriptor.ts';
import { namesOfPalette } from './names.ts';
import { findPalette } from './palette.ts';

export interface ColorAnalysis {
  /** 1 to 5 dominant colours of the subject, `#RRGGBB`, by descending share. */
  readonly paletteHex: string[];
  /** Their shares; the formatted numbers sum to 1. */
  readonly paletteFreq: number[];
  /** Names of the palette's colours from COLOR_NAMES, in the palette's order, each once; see `namesOfPalette`. */
  readonly names: string[];
  /** Whether a subject stands on a plain background. */
  readonly isolated: boolean;
  /** A unit vector of 64 numbers; the L2 distance follows the difference of the colour distributions. */
  readonly descriptor: Float32Array;
}

/** Reused for each picture, to avoid garbage collection: no `await` is allowed between filling it and the last use. */
const pointsOfThread = new Float32Array(3 * SQUARE ** 2);
/** A background with a smaller share of the picture is a frame; a subject with a smaller share is a speck. */
const MIN_BACKGROUND = 0.1;
const MIN_SUBJECT = 0.004;

/**
 * Finds the colours of a picture's subject. A plain background (one colour on most of the border, connected to the
 * edges) is excluded; a picture that is all background keeps its colour. Small pictures are not enlarged, because that
 * would widen the outlines, in which subject and background are mixed.
 */
export function analyzeColor({ pixels, square }: Pick<Picture, 'pixels' | 'square'>): ColorAnalysis {
  const small = Math.max(pixels.width, pixels.height) <= SQUARE ? pixels : square();
  const points = pointsOfThread.subarray(0, small.data.length);
  writePoints(small.data, points);
  const background = findBackground(points, small.width, small.height);
  const isolated = background !== null && background.area >= MIN_BACKGROUND && background.area <= 1 - MIN_SUBJECT;
  const weights = isolated
    ? subjectWeights(background, small.width, small.height)
    : new Uint8Array(small.width * small.height).fill(1);
  const colors = collectColors(small.data, points, weights);

  const shares = new Float64Array(DIMENSIONS);
  const scratch = new Float64Array(DIMENSIONS);
  for (let i = 0; i < colors.count; i++) {
    const at = 3 * i;
    const [x, y, z] = [colors.points[at] as number, colors.points[at + 1] as number, colors.points[at + 2] as number];
    addColor(shares, x, y, z, colors.weights[i] as number, scratch);
  }
  const palette = findPalette(colors, shares);
  return {
    paletteHex: palette.hex,
    paletteFreq: palette.freq,
    names: namesOfPalette(palette.hex, palette.freq),
    isolated,
    descriptor: unitVector(shares),
  };
}

/**
 * Weights: 0 for background, 4 for the inside of the subject, 1 for its outline. Pixels of the outline are mixed with
 * the background, but a thin subject has no others.
 */
function subjectWeights({ mask }: Background, width: number, height: number): Uint8Array {
  const weights = new Uint8Array(mask.length);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (mask[i]) continue;
      const outline =
        (x > 0 && mask[i - 1]) ||
        (x < width - 1 && mask[i + 1]) ||
        (y > 0 && mask[i - width]) ||
        (y < height - 1 && mask[i + width]);
      weights[i] = outline ? 1 : 4;
    }
  }
  return weights;
}
