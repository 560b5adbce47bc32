import { disc, stripes } from '../drawing.ts';
import type { Module } from '../module.ts';
import { contentAxes } from './axes.ts';
import { gradientsOf } from './gradients.ts';
import { networkView } from './join.ts';
import { contentManifest } from './manifest.ts';

/**
 * Two inputs: the content head of the network with the channels below it, which distinguish more kinds of things than
 * the network was trained for, projected onto axes that separate classes of things; and the directions of edges, which
 * describe shapes.
 */
const content: Module = {
  manifest: contentManifest,
  async analyze(picture) {
    const { model, heads, pool } = await picture.features();
    const axes = await contentAxes(model);
    const vector = axes.describe(networkView(heads.content, pool), gradientsOf(picture.square()));
    return { content_descriptor: { model: axes.model, vector } };
  },
  examples: [
    {
      title: 'a disc is more like a disc elsewhere than like stripes of the same colours',
      picture: () => disc('#FFFFFF', '#C02020'),
      nearer: () => disc('#FFFFFF', '#C02020', [0.45, 0.55], 0.33),
      than: () => stripes('#FFFFFF', '#C02020'),
    },
  ],
};

export default content;
