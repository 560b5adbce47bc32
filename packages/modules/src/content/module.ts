import type { Module } from '../module.ts';
import { disc, stripes } from '../picture/drawing.ts';
import { contentDescriptorOf } from './describe.ts';
import { contentManifest } from './manifest.ts';

const content: Module = {
  manifest: contentManifest,
  analyze: async (picture) => contentDescriptorOf(picture, await picture.features()),
  examples: [
    {
      title: 'a disc is more like a disc elsewhere than like stripes of the same colours',
      picture: () => disc('#FFFFFF', '#C02020'),
      nearPicture: () => disc('#FFFFFF', '#C02020', [0.45, 0.55], 0.33),
      farPicture: () => stripes('#FFFFFF', '#C02020'),
    },
  ],
};

export default content;
