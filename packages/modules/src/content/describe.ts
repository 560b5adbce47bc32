import type { ModuleValues } from '../module.ts';
import type { Features } from '../network/network.ts';
import type { Picture } from '../picture/picture.ts';
import { contentAxes } from './axes.ts';
import { gradientsOf } from './gradients.ts';
import { networkFeatures } from './join.ts';

/**
 * Two inputs: the content head of the network with the channels below it, which distinguish more kinds of things than
 * the network was trained for, projected onto axes that separate classes of things; and the directions of edges, which
 * describe shapes.
 *
 * @param features those of the main network
 * @throws Error when the axes belong to another network
 */
export async function contentDescriptorOf(
  picture: Pick<Picture, 'square'>,
  { model, vector: head, pool }: Features,
): Promise<ModuleValues> {
  const axes = await contentAxes(model);
  const vector = axes.describe(networkFeatures(head, pool), gradientsOf(picture.square()));
  return { content_descriptor: { model: axes.model, vector } };
}
