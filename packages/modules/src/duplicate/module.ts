import { draw } from '../drawing.ts';
import type { Module } from '../module.ts';
import { duplicateManifest } from './manifest.ts';

/** A scene with some detail: sky, hills and a sun; the copy is scaled and a little brighter. */
const scene = (width: number, height: number, sunX: number, hills: number, lift: number) =>
  draw(width, height, (x, y) => {
    const gray = (value: number) =>
      Math.round(Math.min(255, value + lift))
        .toString(16)
        .padStart(2, '0');
    if (Math.hypot(x - sunX, y - 0.25) < 0.1) return `#${gray(240)}${gray(200)}${gray(40)}`;
    if (y > 0.6 + 0.15 * Math.sin(x * hills)) return `#${gray(30)}${gray(110 + 60 * x)}${gray(50)}`;
    return `#${gray(90)}${gray(140)}${gray(230 - 80 * y)}`;
  });

/** The duplicate head of the network. */
const duplicate: Module = {
  manifest: duplicateManifest,
  async analyze(picture) {
    const { model, heads } = await picture.features();
    return { duplicate_descriptor: { model, vector: heads.duplicate } };
  },
  examples: [
    {
      title: 'a smaller, brighter copy is nearer than another scene in the same colours',
      picture: () => scene(400, 300, 0.7, 9, 0),
      nearer: () => scene(200, 150, 0.7, 9, 8),
      than: () => scene(400, 300, 0.2, 25, 0),
    },
  ],
};

export default duplicate;
