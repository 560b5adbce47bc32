import type { Module } from '../module.ts';
import { draw } from '../picture/drawing.ts';
import { analyzeCopyspace } from './analyze.ts';
import { copyspaceManifest } from './manifest.ts';

const copyspace: Module = {
  manifest: copyspaceManifest,
  analyze: (picture) => ({ copyspace: analyzeCopyspace(picture.square()) }),
  examples: [
    {
      title: 'a plain left column next to a checkerboard has free space in its three cells',
      picture: () =>
        draw(240, 240, (x, y) => (x > 0.35 && (Math.floor(x * 40) + Math.floor(y * 40)) % 2 ? '#000000' : '#F0F0F0')),
      expected: { copyspace: [0, 3, 6] },
    },
  ],
};

export default copyspace;
