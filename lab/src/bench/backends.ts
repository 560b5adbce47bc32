/**
 * `npm run bench-backends -- <folder of pictures> [how many]`: compares the installed backends with wasm on the same
 * pictures, alternating: the distance of their vectors, how often codes differ, and the time of a forward pass.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeImage, resizeArea } from '@akin/imaging';
import { MIN_SIDE, sharedNetworks } from '@akin/modules/internal/analyzer/analyze-image';
import { loadModule } from '@akin/modules/internal/analyzer/load-module';
import { writeOutputs } from '@akin/modules/internal/analyzer/write-outputs';
import type { Descriptor } from '@akin/modules/internal/module';
import { BACKENDS, checkBackend } from '@akin/modules/internal/network/backend';
import { COPIES_FOLDER, MODEL_FOLDER } from '@akin/modules/internal/network/model';
import { type OpenNetwork, preparePicture } from '@akin/modules/internal/picture/picture';
import { MODULES } from '@akin/modules/manifests';

const DEFAULT_PICTURES = 1000;

const [folder, many = String(DEFAULT_PICTURES)] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: npm run bench-backends -- <folder of pictures> [how many]');
  process.exit(1);
}
const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .sort();
const step = Math.max(1, Math.floor(files.length / Number(many)));
const networks = new Map<string, OpenNetwork>();
for (const backend of BACKENDS) {
  try {
    await checkBackend(backend);
    const network = sharedNetworks(backend);
    await network(MODEL_FOLDER);
    await network(COPIES_FOLDER);
    networks.set(backend, network);
  } catch (error) {
    console.log(`${backend}: ${(error as Error).message}`);
  }
}

const described = MODULES.filter(({ descriptor }) => descriptor);
const times = new Map<string, number[]>(Array.from(networks.keys(), (backend) => [backend, []]));
const unequal = new Map<string, number>();
const apart = new Map<string, number>();
let pictures = 0;
for (let i = 0; i < files.length && pictures < Number(many); i += step) {
  let pixels: Awaited<ReturnType<typeof decodeImage>>['pixels'];
  try {
    ({ pixels } = await decodeImage(await readFile(files[i] as string), { minSide: MIN_SIDE }));
  } catch {
    continue;
  }
  pictures++;
  const given = new Map<string, { vectors: Map<string, Float32Array>; outputs: Map<string, unknown> }>();
  for (const [backend, network] of networks) {
    const main = await network(MODEL_FOLDER);
    const small = resizeArea(pixels, main.width, main.height);
    const start = performance.now();
    await main.run([small]);
    times.get(backend)?.push(performance.now() - start);
    const picture = preparePicture(pixels, network);
    const vectors = new Map<string, Float32Array>();
    const outputs = new Map<string, unknown>();
    for (const manifest of described) {
      const values = await (await loadModule(manifest.name)).analyze(picture);
      vectors.set(manifest.name, (values[manifest.descriptor?.output ?? ''] as Descriptor).vector);
      for (const [key, value] of writeOutputs(manifest, values)) outputs.set(key, value);
    }
    given.set(backend, { vectors, outputs });
  }
  const wasm = given.get('wasm');
  for (const [backend, { vectors, outputs }] of given) {
    if (backend === 'wasm' || wasm === undefined) continue;
    for (const [module, vector] of vectors) {
      const other = wasm.vectors.get(module) ?? new Float32Array();
      const most = vector.reduce((max, value, at) => Math.max(max, Math.abs(value - (other[at] as number))), 0);
      apart.set(`${backend} ${module}`, Math.max(apart.get(`${backend} ${module}`) ?? 0, most));
    }
    for (const [key, value] of outputs) {
      const same = JSON.stringify(written(value)) === JSON.stringify(written(wasm.outputs.get(key)));
      unequal.set(`${backend} ${key}`, (unequal.get(`${backend} ${key}`) ?? 0) + (same ? 0 : 1));
    }
  }
}

console.log(`${pictures} pictures of ${folder}`);
for (const [name, most] of apart) console.log(`${name}: vectors at most ${most.toExponential(1)} apart from wasm`);
for (const [name, count] of unequal) if (count > 0) console.log(`${name}: ${count} of ${pictures} differ`);
const medianOf = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
for (const [backend, values] of times) {
  const ratio = medianOf((times.get('wasm') ?? []).map((value, at) => value / (values[at] ?? Number.NaN)));
  const least = Math.min(...values).toFixed(2);
  console.log(
    `${backend}: median ${medianOf(values).toFixed(2)} ms a pass, least ${least}; wasm / ${backend} ${ratio.toFixed(2)}`,
  );
}

function written(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
