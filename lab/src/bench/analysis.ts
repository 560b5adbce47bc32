/**
 * `npm run bench-analysis -- <image>`: compares the time of one analysis with decoding alone plus a forward pass of the
 * network alone. Also measures each stage, a MobileNetV2 on the same backend, and the images per second of 1 and 2
 * threads on each backend. The measurements alternate, so that a busy machine slows all of them equally.
 */
import { readFile } from 'node:fs/promises';
import { decodeImage, resizeArea } from '@akin/imaging';
import { analyzeImage, MIN_SIDE, sharedNetworks } from '@akin/modules/internal/analyzer/analyze-image';
import { createAnalyzer } from '@akin/modules/internal/analyzer/create-analyzer';
import { loadModule } from '@akin/modules/internal/analyzer/load-module';
import { writeOutputs } from '@akin/modules/internal/analyzer/write-outputs';
import { COPIES_FOLDER, MODEL_FOLDER } from '@akin/modules/internal/network/model';
import { preparePicture } from '@akin/modules/internal/picture/picture';
import { MODULES, moduleNames } from '@akin/modules/manifests';
import { buildMobileNet } from './mobilenet.ts';

const ROUNDS = 100;
const IMAGES = 200;
const RATE_ROUNDS = 5;

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('Usage: npm run bench-analysis -- <image>');
  process.exit(1);
}
const bytes = await readFile(file);
const networks = sharedNetworks('wasm');
const network = await networks(MODEL_FOLDER);
const copies = await networks(COPIES_FOLDER);
const { pixels, width, height } = await decodeImage(bytes, { minSide: MIN_SIDE });
const small = resizeArea(pixels, network.width, network.height);
const inner = resizeArea(pixels, copies.width, copies.height);

const mobileNet = buildMobileNet();
const large = new Float32Array(224 * 224 * 3);

const stages: Record<string, () => unknown> = {
  'bare decode': () => decodeImage(bytes, { minSide: MIN_SIDE }),
  'bare network': () => network.run([small]),
  'bare copy-detection network': () => copies.run([inner]),
  'bare MobileNetV2-1.0 at 224 px': () => mobileNet.run(large),
  'whole analysis': () => analyzeImage(bytes),
  'of it: resize for the network': () => resizeArea(pixels, network.width, network.height),
};
for (const manifest of MODULES) {
  const module = await loadModule(manifest.name);
  // The networks run once before the measurement, so that only the module's own work is measured.
  const picture = preparePicture(pixels, async (folder) => {
    const shared = await networks(folder);
    let seen: ReturnType<typeof shared.run> | undefined;
    return {
      ...shared,
      run(squares) {
        seen ??= shared.run(squares);
        return seen;
      },
    };
  });
  const values = await module.analyze(picture);
  stages[`of it: ${manifest.name}`] = () => module.analyze(picture);
  if (manifest.descriptor) stages[`of it: codes of ${manifest.name}`] = () => writeOutputs(manifest, values);
}

const times = new Map<string, number[]>(Object.keys(stages).map((name) => [name, []]));
/** CPU time of all threads of this process: it depends least on other processes. */
const cpu = new Map<string, number[]>(Object.keys(stages).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, stage] of Object.entries(stages)) {
    const start = performance.now();
    const used = process.cpuUsage();
    await stage();
    times.get(name)?.push(performance.now() - start);
    const { user, system } = process.cpuUsage(used);
    cpu.get(name)?.push((user + system) / 1000);
  }
}
console.log(`${file}: ${width} x ${height}, ${bytes.length} bytes; median (min to max)`);
for (const [what, all] of [
  ['ms', times],
  ['ms of CPU', cpu],
] as const) {
  const of = (name: string) => all.get(name) ?? [];
  for (const [name, values] of all) print(`${name}, ${what}`, values);
  const bare = of('bare decode').map((milliseconds, round) => milliseconds + (of('bare network')[round] ?? 0));
  print(`whole / (decode + network), ${what}`, ratios(of('whole analysis'), bare));
  const both = bare.map((milliseconds, round) => milliseconds + (of('bare copy-detection network')[round] ?? 0));
  print(`whole / (decode + both networks), ${what}`, ratios(of('whole analysis'), both));
  print(`network / MobileNetV2, ${what}`, ratios(of('bare network'), of('bare MobileNetV2-1.0 at 224 px')));
}
console.log(`MobileNetV2: ${(mobileNet.parameters / 1e6).toFixed(2)} million parameters`);

/** Images per second of each round, by backend and by number of threads, and the cores that were busy meanwhile. */
const rates = { wasm: { 1: [], 2: [] }, onnx: { 1: [], 2: [] } } satisfies Record<string, Record<number, number[]>>;
const cores = { wasm: { 1: [], 2: [] }, onnx: { 1: [], 2: [] } } satisfies typeof rates;
for (let round = 0; round < RATE_ROUNDS; round++) {
  for (const backend of ['wasm', 'onnx'] as const) {
    for (const threads of [1, 2] as const) {
      await using analyzer = await createAnalyzer({ threads, backend });
      const analyzeAll = () =>
        Promise.all(Array.from({ length: IMAGES }, () => analyzer.analyze(bytes, { modules: moduleNames })));
      // New threads compile first; two threads compile twice as much as one.
      await analyzeAll();
      const start = performance.now();
      const used = process.cpuUsage();
      await analyzeAll();
      const milliseconds = performance.now() - start;
      const { user, system } = process.cpuUsage(used);
      (rates[backend][threads] as number[]).push((IMAGES * 1000) / milliseconds);
      (cores[backend][threads] as number[]).push((user + system) / 1000 / milliseconds);
    }
  }
}
for (const backend of ['wasm', 'onnx'] as const) {
  const { 1: one, 2: two } = rates[backend];
  print(`images/s, ${backend}, 1 thread`, one);
  print(`images/s, ${backend}, 2 threads`, two);
  print(`cores, ${backend}, 1 thread`, cores[backend][1]);
  print(`cores, ${backend}, 2 threads`, cores[backend][2]);
  print(`${backend}, 2 threads / 1 thread`, ratios(two, one));
}

/** The ratio of each round: a busy machine slows both sides of a round. */
function ratios(above: readonly number[], below: readonly number[]): number[] {
  return above.map((value, round) => value / (below[round] ?? Number.NaN));
}

function print(name: string, values: readonly number[]): void {
  const [least, middle, most] = [0, Math.floor(values.length / 2), values.length - 1].map((at) =>
    (values.toSorted((a, b) => a - b)[at] ?? Number.NaN).toFixed(2),
  );
  console.log(`${name.padEnd(34)} ${middle} (${least} to ${most})`);
}
