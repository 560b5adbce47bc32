import { disc, stripes } from '../drawing.ts';
import type { Module } from '../module.ts';
import { contentManifest } from './manifest.ts';

/** The content head of the network. */
const content: Module = {
  manifest: contentManifest,
  async analyze(picture) {
    const { model, heads } = await picture.features();
    return { content_descriptor: { model, vector: heads.content } };
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
