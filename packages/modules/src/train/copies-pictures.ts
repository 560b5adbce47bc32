/**
 * `npm run copies-pictures -- <folder of pictures> <folder to write> [--backend onnx]`: what the network of copies is
 * trained on (copies-network/train.py). `inner.rgb` holds the (first) inner square of each picture, `seen.f32` what the
 * main network sees in it: the square roots of its channels, averaged over all ways to turn and flip the picture.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { decodeImage, resizeArea } from '@akin/imaging';
import { MIN_SIDE, sharedNetworks } from '../analyzer/analyze-image.ts';
import { rootsOf } from '../content/join.ts';
import { innerPictures } from '../inner-picture.ts';
import type { Backend } from '../network/backend.ts';
import { preparePicture, SQUARE } from '../picture.ts';
import { inWay, WAYS } from '../ways.ts';
import { filesBelow } from './files-below.ts';

/** Larger than what the network is shown, so that parts cut out of it are still sharp. */
const SIDE = 96;

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { backend: { type: 'string', default: 'wasm' } },
});
const [pictures, target] = positionals;
if (pictures === undefined || target === undefined) {
  console.error('Usage: npm run copies-pictures -- <folder of pictures> <folder to write> [--backend wasm|onnx]');
  process.exit(1);
}
const networks = sharedNetworks(options.backend as Backend);
const main = await networks.main();
const squares: Uint8Array[] = [];
const seen: Float32Array[] = [];
for (const file of await filesBelow(pictures)) {
  try {
    const { pixels } = await decodeImage(await readFile(file), { minSide: MIN_SIDE });
    const [inner] = innerPictures(pixels, preparePicture(pixels, networks).square());
    const square = resizeArea(inner, SQUARE, SQUARE);
    const features = await main.run(Array.from({ length: WAYS }, (_, way) => inWay(square, way)));
    const roots = features.map(({ pool }) => rootsOf(pool));
    seen.push(Float32Array.from(roots[0] ?? [], (_, i) => roots.reduce((sum, all) => sum + (all[i] ?? 0), 0) / WAYS));
    squares.push(resizeArea(inner, SIDE, SIDE).data);
  } catch (error) {
    console.warn(`${file}: ${error instanceof Error ? error.message : error}`);
  }
  if (squares.length % 100 === 0) console.log(`${squares.length} pictures`);
}
await mkdir(target, { recursive: true });
await writeFile(join(target, 'inner.rgb'), Buffer.concat(squares));
await writeFile(join(target, 'seen.f32'), Buffer.concat(seen.map(({ buffer }) => Buffer.from(buffer as ArrayBuffer))));
console.log(`${squares.length} pictures in ${target}. Now python3 copies-network/train.py ${target}`);
