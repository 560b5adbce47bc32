/**
 * `npm run bench-analysis -- <image>`: the time of one analysis against bare decoding plus a bare pass of the network,
 * the time of each stage, and images a second of 1 and 2 threads. All are taken in turns, so that a busy machine slows
 * all alike; the smallest of many runs is the figure.
 */
import { readFile } from 'node:fs/promises';
import { decodeImage, resizeArea } from '@akin/imaging';
import { analyzeImage, MIN_SIDE, sharedNetwork } from '../analyzer/analyze-image.ts';
import { createAnalyzer } from '../analyzer/create-analyzer.ts';
import { writeOutputs } from '../analyzer/write-outputs.ts';
import { loadModule } from '../load-module.ts';
import { MODULES, moduleNames } from '../manifests.ts';
import { preparePicture } from '../picture.ts';

const ROUNDS = 100;
const IMAGES = 200;

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('Usage: npm run bench-analysis -- <image>');
  process.exit(1);
}
const bytes = await readFile(file);
const network = await sharedNetwork('wasm');
const { pixels, width, height } = await decodeImage(bytes, { minSide: MIN_SIDE });
const small = resizeArea(pixels, network.width, network.height);

const stages: Record<string, () => unknown> = {
  'bare decode': () => decodeImage(bytes, { minSide: MIN_SIDE }),
  'bare network': () => network.run(small),
  'whole analysis': () => analyzeImage(bytes),
  'of it: resize for the network': () => resizeArea(pixels, network.width, network.height),
};
for (const manifest of MODULES) {
  const module = await loadModule(manifest.name);
  const picture = preparePicture(pixels, () => sharedNetwork('wasm'));
  // The features are made once, beforehand: what is timed is the module's own work.
  const values = await module.analyze(picture);
  stages[`of it: ${manifest.name}`] = () => module.analyze(picture);
  if (manifest.descriptor) stages[`of it: codes of ${manifest.name}`] = () => writeOutputs(manifest, values);
}

const best = new Map<string, number>();
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, stage] of Object.entries(stages)) {
    const start = performance.now();
    await stage();
    best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, performance.now() - start));
  }
}
console.log(`${file}: ${width} x ${height}, ${bytes.length} bytes`);
for (const [name, milliseconds] of best) console.log(`${name.padEnd(32)} ${milliseconds.toFixed(2)} ms`);
const bare = (best.get('bare decode') ?? 0) + (best.get('bare network') ?? 0);
console.log(`whole / (decode + network)       ${((best.get('whole analysis') ?? 0) / bare).toFixed(2)}`);

const rates = new Map([
  [1, 0],
  [2, 0],
]);
for (let round = 0; round < 4; round++) {
  for (const threads of rates.keys()) {
    await using analyzer = await createAnalyzer({ threads });
    await analyzer.warmUp(moduleNames);
    const start = performance.now();
    await Promise.all(Array.from({ length: IMAGES }, () => analyzer.analyze(bytes, { modules: moduleNames })));
    const rate = (IMAGES * 1000) / (performance.now() - start);
    rates.set(threads, Math.max(rates.get(threads) ?? 0, rate));
  }
}
for (const [threads, rate] of rates)
  console.log(`${threads} thread(s)                      ${rate.toFixed(1)} images/s`);
console.log(`2 threads / 1 thread             ${((rates.get(2) ?? 0) / (rates.get(1) ?? 1)).toFixed(2)}`);
