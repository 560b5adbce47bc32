import { readFile } from 'node:fs/promises';
import { readSafetensors } from '../safetensors.ts';
import { l2Normalize } from '../vectors/unit.ts';
import { PATTERN_NUMBERS } from './pattern.ts';

/** How many axes patterns are compared on. */
export const PATTERN_AXES = 128;

/** Written by `npm run train-pattern`. */
export const PATTERN_FILE = new URL('../../models/pattern-1.safetensors', import.meta.url);

export interface PatternAxes {
  /** The first digits of the hash of the numbers. */
  readonly id: string;
  /** The unit vector of a pattern. */
  project(numbers: Float64Array): Float32Array;
}

/** Reads the axes of this thread, once. */
export function patternAxes(): Promise<PatternAxes> {
  axes ??= read();
  return axes;
}

let axes: Promise<PatternAxes> | undefined;

async function read(): Promise<PatternAxes> {
  const tensors = readSafetensors(await readFile(PATTERN_FILE), 'pattern-1.safetensors');
  const mean = tensors.get('mean', [PATTERN_NUMBERS]);
  const rows = tensors.get('axes', [PATTERN_AXES, PATTERN_NUMBERS]);
  return {
    id: (tensors.metadata.sha256 ?? '').slice(0, 8),
    project(numbers) {
      const along = new Float64Array(PATTERN_AXES);
      for (let axis = 0, at = 0; axis < PATTERN_AXES; axis++) {
        let sum = 0;
        for (let i = 0; i < PATTERN_NUMBERS; i++, at++) {
          sum += (rows[at] as number) * ((numbers[i] as number) - (mean[i] as number));
        }
        along[axis] = sum;
      }
      return l2Normalize(along);
    },
  };
}
