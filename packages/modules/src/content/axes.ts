import { readAxes } from '../axes-file.ts';
import { project } from '../project.ts';
import { l2Normalize } from '../vectors/unit.ts';
import { GRADIENT_NUMBERS } from './gradients.ts';
import { joinViews } from './join.ts';

/** Numbers of the network: its content head and the channels of its trunk. */
export const HEAD_NUMBERS = 256;
export const POOL_NUMBERS = 1024;
/** How many axes the channels and the gradients are compared on, and then all together. */
export const POOL_AXES = 256;
export const GRADIENT_AXES = 160;
export const CONTENT_AXES = 256;

export interface ContentAxes {
  /** The name of the network and the first digits of the hash of the axes. */
  readonly model: string;
  /** The unit vector of what the network and the gradients say; `pool` as `rootsOf` gives it. */
  describe(head: Float32Array, pool: Float64Array, gradients: Float64Array): Float32Array;
}

/** Reads the axes of this thread, once. */
export function contentAxes(model: string): Promise<ContentAxes> {
  axes ??= read(model);
  return axes;
}

let axes: Promise<ContentAxes> | undefined;

async function read(model: string): Promise<ContentAxes> {
  const { tensors, id } = await readAxes('content', model);
  const poolMean = tensors.get('pool_mean', [POOL_NUMBERS]);
  const pool = tensors.get('pool', [POOL_AXES, POOL_NUMBERS]);
  const gradientMean = tensors.get('gradients_mean', [GRADIENT_NUMBERS]);
  const gradients = tensors.get('gradients', [GRADIENT_AXES, GRADIENT_NUMBERS]);
  const joined = tensors.get('joined', [CONTENT_AXES, HEAD_NUMBERS + POOL_AXES + GRADIENT_AXES]);
  return {
    model: `${model}:${id}`,
    describe: (head, roots, edges) =>
      l2Normalize(
        project(joined, joinViews(head, project(pool, roots, poolMean), project(gradients, edges, gradientMean))),
      ),
  };
}
