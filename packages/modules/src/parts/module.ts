import type { Module } from '../module.ts';
import { pointsOf, soughtPointsOf } from './analyze.ts';
import { partsManifest } from './manifest.ts';
import { writePoints } from './points.ts';

const parts: Module = {
  manifest: partsManifest,
  analyze: async (picture) => ({
    parts_points: writePoints(await (picture.isSought ? soughtPointsOf(picture) : pointsOf(picture))),
  }),
  examples: [
    {
      title: 'a plain picture has no points',
      picture: () => ({ width: 400, height: 300, data: new Uint8Array(400 * 300 * 3).fill(200) }),
      expected: { parts_points: 'AgCQASwB' },
    },
  ],
};

export default parts;
