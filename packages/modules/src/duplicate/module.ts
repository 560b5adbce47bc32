import type { Module } from '../module.ts';
import { COPIES_FOLDER } from '../network/model.ts';
import type { Features } from '../network/network.ts';
import { draw } from '../picture/drawing.ts';
import { oriented } from '../picture/orientations.ts';
import { l2Normalize } from '../vectors/unit.ts';
import { duplicateAxes } from './axes.ts';
import { COPY_SCORE } from './copy-score.ts';
import { type CopyFeatures, copyFeaturesOf } from './features.ts';
import { CLEAR, combineFeatures } from './join.ts';
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

/** If one of two crops is nearly blank, ignores it: its pseudorandom direction would hide the other crop. */
function withoutBlank<View extends CopyFeatures>(views: readonly View[]): readonly View[] {
  const clear = views.filter(({ contrast }) => contrast >= CLEAR);
  return clear.length > 0 ? clear : views.slice(0, 1);
}

/** The mean direction of one or two content crops. It always exists, because hue histograms are never opposite. */
function meanDirection([first, second]: readonly Float32Array[]): Float32Array {
  const one = first as Float32Array;
  return second === undefined ? one : l2Normalize(one.map((value, i) => value + (second[i] as number)));
}

/**
 * Joins three parts: a small network trained to distinguish copies from other pictures, which tolerates crops and
 * rotations; the pattern of light and dark, which separates pictures that the network confuses; and, with a low weight,
 * the hue histogram. If the background is ambiguous, there are two crops, and the descriptor is the mean of both, which
 * is usually near enough to either.
 */
const duplicate: Module = {
  manifest: duplicateManifest,
  async analyze(picture) {
    const views = withoutBlank(picture.contentCrops().map((square) => ({ square, ...copyFeaturesOf(square) })));
    const network = await picture.network(COPIES_FOLDER);
    const seen = await network.run(views.map(({ square }) => square));
    const axes = await duplicateAxes((seen[0] as Features).model);
    const vectors = views.map(({ pattern, hues, contrast }, i) => {
      const { vector } = seen[i] as Features;
      return combineFeatures({ network: vector, pattern: axes.pattern(pattern), hues }, contrast, picture.pixels);
    });
    return { duplicate_descriptor: { model: axes.model, vector: meanDirection(vectors) } };
  },
  // docs/quality.md says how many copies and how many false pairs score 0.7 or more.
  scores: { usual: 0.1, rare: 0.3, near: COPY_SCORE, nearAt: 0.593 },
  examples: [
    {
      title: 'a smaller, brighter copy is nearer than another scene in the same colours',
      picture: () => scene(400, 300, 0.7, 9, 0),
      nearPicture: () => scene(200, 150, 0.7, 9, 8),
      farPicture: () => scene(400, 300, 0.2, 25, 0),
    },
    {
      title: 'a copy turned by a quarter is nearer than another scene in the same colours',
      picture: () => scene(400, 300, 0.7, 9, 0),
      nearPicture: () => oriented(scene(400, 300, 0.7, 9, 0), 5),
      farPicture: () => scene(400, 300, 0.2, 25, 0),
    },
  ],
};

export default duplicate;
