import { CROP_RULE } from '../picture/content-crop.ts';
import { project } from '../vectors/project.ts';
import { l2Normalize } from '../vectors/unit.ts';
import { readAxes } from '../weights/axes-file.ts';
import { memoizeAsync } from '../weights/memoize-async.ts';
import { HUE_DIMENSIONS } from './hue-histogram.ts';
import { PATTERN_DIMENSIONS } from './pattern.ts';

/** Size of the network's output. */
const NETWORK_NUMBERS = 128;
/** Number of axes for the pattern. With the network's numbers and the hue histogram they make up the descriptor. */
export const PATTERN_AXES = 256 - NETWORK_NUMBERS - HUE_DIMENSIONS;

export interface DuplicateAxes {
  /**
   * The name of the copy-detection network, and the first digits of the hash of the axes and of the content crop's
   * rule.
   */
  readonly model: string;
  /** Returns a unit vector. */
  pattern(numbers: Float64Array): Float32Array;
}

/**
 * Read once for each thread.
 *
 * @param model The name of the network in use.
 * @throws Error when the axes were trained for another network.
 */
export const duplicateAxes = memoizeAsync(async (model: string): Promise<DuplicateAxes> => {
  const { tensors, id } = await readAxes('duplicate', model, CROP_RULE);
  const mean = tensors.get('pattern_mean', [PATTERN_DIMENSIONS]);
  const pattern = tensors.get('pattern', [PATTERN_AXES, PATTERN_DIMENSIONS]);
  return {
    model: `${model}:${id}`,
    pattern: (numbers) => l2Normalize(project(pattern, numbers, mean)),
  };
});
