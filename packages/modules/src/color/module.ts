import type { Module } from '../module.ts';
import { disc, stripes } from '../picture/drawing.ts';
import { analyzeColor } from './analyze.ts';
import { colorManifest } from './manifest.ts';

/** Change this name when the descriptor of a picture changes. */
const MODEL = 'color-2';

const color: Module = {
  manifest: colorManifest,
  analyze(picture) {
    const { paletteHex, paletteFreq, names, isolated, descriptor } = analyzeColor(picture);
    return {
      color_palette_hex: paletteHex,
      color_palette_freq: paletteFreq,
      color_names: names,
      color_isolated: isolated,
      color_descriptor: { model: MODEL, vector: descriptor },
    };
  },
  // Many unrelated pictures really have similar colours, so non-matching pairs score higher than in other modules.
  scores: { usual: 0.3, rare: 0.7, near: 0.9, nearAt: 0.4 },
  examples: [
    {
      title: 'a red disc on white is an isolated red thing',
      picture: () => disc('#FFFFFF', '#D01010'),
      expected: { color_isolated: true, color_names: ['red'], color_palette_hex: ['#D01010'], color_palette_freq: [1] },
    },
    {
      title: 'colours count, not their places',
      picture: () => stripes('#204080', '#E0C020', 4),
      nearPicture: () => stripes('#E0C020', '#204080', 9),
      farPicture: () => stripes('#208040', '#E0C020', 4),
    },
  ],
};

export default color;
