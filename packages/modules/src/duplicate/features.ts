import type { Pixels } from '@akin/imaging';
import { hueHistogramOf } from './hue-histogram.ts';
import { patternOf } from './pattern.ts';

export interface CopyFeatures {
  readonly pattern: Float64Array;
  readonly hues: Float64Array;
  /** Standard deviation of the brightness, 0…1. */
  readonly contrast: number;
}

/** @param crop A content crop of the picture. */
export function copyFeaturesOf(crop: Pixels): CopyFeatures {
  const light = lightOf(crop);
  return { pattern: patternOf(light), hues: hueHistogramOf(crop), contrast: deviation(light) };
}

/** Brightness of each pixel, 0…1. */
function lightOf({ data }: Pixels): Float64Array {
  const light = new Float64Array(data.length / 3);
  for (let i = 0, at = 0; i < light.length; i++, at += 3) {
    light[i] =
      (0.299 * (data[at] as number) + 0.587 * (data[at + 1] as number) + 0.114 * (data[at + 2] as number)) / 255;
  }
  return light;
}

function deviation(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return Math.sqrt(squares / values.length);
}
