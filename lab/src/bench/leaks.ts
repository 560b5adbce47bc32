/**
 * `npm run bench-leaks -- [how many]`: analyzes small pictures one after another, prints the number of tensors and the
 * memory, and fails if either grows.
 */

import { analyzeImage } from '@akin/modules/internal/analyzer/analyze-image';
import * as tf from '@tensorflow/tfjs-core';
import sharp from 'sharp';

const DEFAULT_COUNT = 10_000;
/** Number of different pictures, which are repeated. */
const PICTURES = 50;
/** Number of measurements in a run. */
const STEPS = 10;
/** Memory varies by some MB with the garbage collector; a leak of every picture's pixels would be 50 times that. */
const SWING_MEGABYTES = 40;

const count = Number(process.argv[2] ?? DEFAULT_COUNT);
const pictures = await Promise.all(
  Array.from({ length: PICTURES }, (_, seed) => {
    const data = Uint8Array.from({ length: 90 * 70 * 3 }, (_, i) => seed * 5 + (i % (seed + 7)) * 31);
    return sharp(data, { raw: { width: 90, height: 70, channels: 3 } })
      .jpeg()
      .toBuffer();
  }),
);
const analyze = async (times: number) => {
  for (let i = 0; i < times; i++) await analyzeImage(pictures[i % PICTURES] as Buffer, { thumbnail: true });
};
const measure = () => ({
  tensors: tf.memory().numTensors,
  // Includes memory of the network outside of the heap.
  megabytes: Math.round(process.memoryUsage.rss() / 1e6),
});

await analyze(Math.ceil(count / STEPS));
const first = measure();
console.log(`after ${Math.ceil(count / STEPS)}: ${first.tensors} tensors, ${first.megabytes} MB`);
let last = first;
for (let step = 2; step <= STEPS; step++) {
  await analyze(Math.ceil(count / STEPS));
  last = measure();
  console.log(`after ${step * Math.ceil(count / STEPS)}: ${last.tensors} tensors, ${last.megabytes} MB`);
}
const grown = last.tensors > first.tensors || last.megabytes > first.megabytes + SWING_MEGABYTES;
console.log(grown ? 'It grows.' : 'It does not grow.');
process.exitCode = grown ? 1 : 0;
