/**
 * `npm run copies-pictures -- <folder of pictures> <folder to write> [--backend onnx]`: writes the training data of the
 * copy-detection network (copies-network/train.py). `inner.rgb` contains the (first) content crop of each picture,
 * `seen.f32` features of the main network: the square roots of its channels, averaged over all orientations of the
 * picture.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resizeArea } from '@akin/imaging';
import { sharedNetworks } from '@akin/modules/internal/analyzer/analyze-image';
import { rootsOf } from '@akin/modules/internal/content/join';
import { listFiles } from '@akin/modules/internal/learn/list-files';
import { MODEL_FOLDER } from '@akin/modules/internal/network/model';
import { contentCrops } from '@akin/modules/internal/picture/content-crop';
import { ORIENTATIONS, oriented } from '@akin/modules/internal/picture/orientations';
import { SQUARE } from '@akin/modules/internal/picture/picture';
import { fail, readArguments } from './arguments.ts';
import { extractFeatures } from './extract-features.ts';

/** Larger than the network's input, so that crops are still sharp. */
const SIDE = 96;

const { folders, backend } = await readArguments('copies-pictures -- <folder of pictures> <folder to write>', {
  folders: 2,
});
const [pictures, target] = folders as [string, string];
const files = await listFiles(pictures).catch(fail);
const main = await sharedNetworks(backend)(MODEL_FOLDER);
const seen = await extractFeatures(files, backend, async (picture) => {
  const [inner] = contentCrops(picture.pixels, picture.square());
  const square = resizeArea(inner, SQUARE, SQUARE);
  const features = await main.run(
    Array.from({ length: ORIENTATIONS }, (_, orientation) => oriented(square, orientation)),
  );
  const roots = features.map(({ pool }) => rootsOf(pool));
  return {
    inner: resizeArea(inner, SIDE, SIDE).data,
    roots: Float32Array.from(
      roots[0] ?? [],
      (_, i) => roots.reduce((sum, all) => sum + (all[i] ?? 0), 0) / ORIENTATIONS,
    ),
  };
});
if (seen.size === 0) fail(`${pictures} contains no readable picture.`);
const all = [...seen.values()];
await mkdir(target, { recursive: true });
await writeFile(join(target, 'inner.rgb'), Buffer.concat(all.map(({ inner }) => inner)));
await writeFile(
  join(target, 'seen.f32'),
  Buffer.concat(all.map(({ roots }) => Buffer.from(roots.buffer as ArrayBuffer))),
);
console.log(`${seen.size} pictures in ${target}. Now python3 copies-network/train.py ${target}`);
