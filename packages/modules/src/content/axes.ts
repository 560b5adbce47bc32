import { MIDDLE_RULE } from '../picture/middle.ts';
import { project } from '../vectors/project.ts';
import { readAxes } from '../weights/axes-file.ts';
import { memoizeAsync } from '../weights/memoize-async.ts';
import { GRADIENT_DIMENSIONS } from './gradients.ts';
import { concatenateFeatures } from './join.ts';

export const HEAD_DIMENSIONS = 256;
export const POOL_DIMENSIONS = 1024;
/** Number of axes for the network's values and for the gradients; their sum is the size of a descriptor. */
export const NETWORK_AXES = 192;
export const GRADIENT_AXES = 64;

export interface ContentAxes {
  /** The name of the network and the first digits of the hash of the axes. */
  readonly model: string;
  describe(seen: Float64Array, gradients: Float64Array): Float32Array;
}

/**
 * Read once for each thread.
 *
 * @param model The name of the network in use.
 * @throws Error when the axes were trained for another network, or for other middles of pictures.
 */
export const contentAxes = memoizeAsync(async (model: string): Promise<ContentAxes> => {
  const { tensors, id } = await readAxes('content', model, MIDDLE_RULE);
  const seenMean = tensors.get('seen_mean', [HEAD_DIMENSIONS + POOL_DIMENSIONS]);
  const contentAxes = tensors.get('seen', [NETWORK_AXES, HEAD_DIMENSIONS + POOL_DIMENSIONS]);
  const gradientMean = tensors.get('gradients_mean', [GRADIENT_DIMENSIONS]);
  const gradientAxes = tensors.get('gradients', [GRADIENT_AXES, GRADIENT_DIMENSIONS]);
  return {
    model: `${model}:${id}`,
    describe: (seen, gradients) =>
      concatenateFeatures(project(contentAxes, seen, seenMean), project(gradientAxes, gradients, gradientMean)),
  };
});
