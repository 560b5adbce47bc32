import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeImage } from '@akin/imaging';
import { drawImage } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { saveTinyGraph, saveTinyModel } from '../../test/tiny-model.ts';
import { type Analysis, analyzeImage } from '../analyzer/analyze-image.ts';
import { createAnalyzer, createPool } from '../analyzer/create-analyzer.ts';
import { codebookOf } from '../vectors/codebook.ts';
import { distance, length } from '../vectors/unit.ts';
import { decodeDescriptor, modelNames, parseOutputs, scoreOf } from '../vectors.ts';
import { readAxes } from './axes.ts';
import { openCustomContent } from './custom-content.ts';
import { CODEBOOK_FILE, readModelFiles, readTrained } from './files.ts';
import { readManifest } from './manifest.ts';
import { openModel } from './run-model.ts';
import { trainContentModel } from './train.ts';

const PICTURES = 120;

let folder: string;
let pictures: string;
let model: string;
let shippedOutputs: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'akin-content-model-'));
  pictures = await mkdtemp(join(tmpdir(), 'akin-pictures-'));
  for (let seed = 0; seed < PICTURES; seed++) {
    await writeFile(join(pictures, `${seed}.jpg`), await drawImage({ width: 90, height: 70, seed }));
  }
  await writeFile(join(pictures, 'notes.txt'), 'no picture');
  await using shipped = createPool({ threads: 1 }, WORKER);
  shippedOutputs = (await shipped.analyze(await picture(1), { modules: ['content'] })).outputs;
  await saveTinyModel(folder);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await rm(pictures, { recursive: true });
});

const WORKER = new URL('../../dist/analyzer/worker.js', import.meta.url);

const picture = (seed: number) => readFile(join(pictures, `${seed}.jpg`));

describe("a user's own model of content", () => {
  it('asks to be trained before it is used', async () => {
    await expect(openCustomContent(folder, 'wasm')).rejects.toThrow(
      `is not trained yet. Run: akin train <folder of your pictures> --content-model ${folder}`,
    );
  });

  it('is not changed by a training that is stopped at any time', async () => {
    const before = await readdir(folder);
    for (const last of [1, PICTURES]) {
      const controller = new AbortController();
      const progress = (done: number) => {
        if (done === last) controller.abort(new Error(`stopped at ${last}`));
      };
      const training = trainContentModel({ folder, pictures, progress, signal: controller.signal });
      await expect(training).rejects.toThrow(`stopped at ${last}`);
    }
    expect(await readdir(folder)).toEqual(before);
  });

  it('is trained on a folder of pictures, to the same files each time', async () => {
    const skipped: string[] = [];
    const train = () => trainContentModel({ folder, pictures, skip: (file) => skipped.push(file) });
    const trained = await train();
    expect(trained).toEqual({ model: expect.stringMatching(/^tiny-7:[0-9a-f]{8}$/), pictures: PICTURES, classes: 0 });
    expect(skipped).toEqual([join(pictures, 'notes.txt')]);
    const files = () => Promise.all(['axes', 'content'].map((name) => readFile(join(folder, `${name}.safetensors`))));
    const before = await files();
    expect(await train()).toEqual(trained);
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(await files()).toEqual(before);
    model = trained.model;
  });

  it('gives outputs with its name, which are compared by its codebook', async () => {
    const { outputs } = await analyzeImage(await picture(1), { contentModel: folder });
    expect(modelNames()).toContain(`content=${model}`);
    const { descriptors, mark } = parseOutputs(outputs);
    // Its 7 cells are fewer than those of larger codebooks; the codebook must count as current anyway.
    expect([codebookOf('content').cellCount, mark]).toEqual([7, expect.any(String)]);
    const vector = descriptors.get('content')?.vector ?? new Float32Array();
    expect([vector.length, Math.abs(length(vector) - 1) < 0.005]).toEqual([256, true]);
    expect(scoreOf('content', 0)).toBe(1);
    // The model has 10 outputs: 10 axes, followed by zeros.
    expect(vector.slice(10).every((value) => value === 0)).toBe(true);
    expect((await analyzeImage(await picture(1), { contentModel: folder })).outputs).toBe(outputs);
  });

  it('gives the same in worker threads', async () => {
    const here = (await analyzeImage(await picture(2), { contentModel: folder })).outputs;
    const config = { threads: 2, contentModel: folder };
    await using pool = createPool(config, WORKER);
    const there = await Promise.all(
      [2, 2, 2].map(
        async () =>
          (await pool.analyze(await picture(2), { modules: ['color', 'content', 'copyspace', 'duplicate'] })).outputs,
      ),
    );
    expect(there).toEqual([here, here, here]);
  });

  it('rejects outputs of another model and names both', () => {
    expect(() => parseOutputs(shippedOutputs)).toThrow(
      new RegExp(`was made by the model akin-.*, but akin uses ${model}; they cannot be mixed`),
    );
    const { content_descriptor } = JSON.parse(shippedOutputs) as { content_descriptor: string };
    expect(() => decodeDescriptor(content_descriptor, 'content')).toThrow('cannot be mixed');
  });

  it('is refused when it changed after its training', async () => {
    const file = join(folder, 'content-model.json');
    const manifest = await readFile(file, 'utf8');
    await writeFile(file, manifest.replace('"7"', '"8"'));
    await expect(createAnalyzer({ threads: 1, contentModel: folder })).rejects.toThrow(
      `is not the one that was trained, ${model}. Run akin train again`,
    );
    await writeFile(file, manifest);
  });

  it.each(['axes.safetensors', 'content.safetensors'])(
    'asks for a new training when its %s is damaged',
    async (name) => {
      const file = join(folder, name);
      const whole = await readFile(file);
      const headless = Buffer.from(whole).fill('?', 8, 12);
      for (const damaged of [Buffer.alloc(0), whole.subarray(0, 40), whole.subarray(0, -2), headless]) {
        await writeFile(file, damaged);
        await expect(openCustomContent(folder, 'wasm')).rejects.toMatchObject({
          code: 'bad-request',
          message: `${file} is damaged. Train the model again: akin train <folder of your pictures> --content-model ${folder}`,
        });
      }
      await writeFile(file, whole);
    },
  );
});

describe('training with classes', () => {
  const KINDS = 24;
  const OF_A_KIND = 4;
  let classes: string;

  /** Pictures of a class differ in how blue the light is. */
  beforeAll(async () => {
    classes = await mkdtemp(join(tmpdir(), 'akin-classes-'));
    for (let kind = 0; kind < KINDS; kind++) {
      await mkdir(join(classes, `${kind}`));
      for (let i = 0; i < OF_A_KIND; i++) {
        const drawn = sharp(await drawImage({ width: 90, height: 70, seed: 1000 + kind }));
        await drawn.linear([1, 1, 1], [0, 0, 50 * i - 75]).toFile(join(classes, `${kind}`, `${i}.jpg`));
      }
    }
  });
  afterAll(() => rm(classes, { recursive: true }));

  /** For how many pictures the nearest picture has the same class. */
  async function foundByClass(folder: string): Promise<number> {
    const run = await openModel(folder, await readModelFiles(folder), 'wasm');
    const axes = readAxes(await readFile(join(folder, 'axes.safetensors')), 256, 'axes');
    const vectors: [kind: number, Float32Array][] = [];
    for (let kind = 0; kind < KINDS; kind++) {
      for (let i = 0; i < OF_A_KIND; i++) {
        const { pixels } = await decodeImage(await readFile(join(classes, `${kind}`, `${i}.jpg`)), { minSide: 16 });
        vectors.push([kind, axes.describe(run(pixels))]);
      }
    }
    return vectors.filter(([kind, vector]) => {
      const others = vectors.filter(([, other]) => other !== vector);
      const nearest = others.reduce((a, b) => (distance(b[1], vector) < distance(a[1], vector) ? b : a));
      return nearest[0] === kind;
    }).length;
  }

  it('learns the differences within a class, and finds pictures of a class more often', async () => {
    const own = await mkdtemp(join(tmpdir(), 'akin-model-'));
    await saveTinyModel(own);
    await trainContentModel({ folder: own, pictures });
    const before = await foundByClass(own);
    const progress: [number, number][] = [];
    const trained = await trainContentModel({
      folder: own,
      pictures,
      classes,
      progress: (...news) => progress.push(news),
    });
    expect(trained).toMatchObject({ pictures: PICTURES, classes: KINDS });
    const all = PICTURES + 1 + KINDS * OF_A_KIND;
    expect([progress.length, progress.at(-1)]).toEqual([all, [all, all]]);
    expect(await foundByClass(own)).toBeGreaterThan(before + 3);
    await rm(own, { recursive: true });
  });

  it('does not change the model of a running analyzer', async () => {
    const own = await mkdtemp(join(tmpdir(), 'akin-model-'));
    await saveTinyModel(own);
    const { model: first } = await trainContentModel({ folder: own, pictures });
    // One thread opens the model now, the other when there is work for two.
    await using analyzer = await createAnalyzer({ threads: 2, contentModel: own });
    const { model: second } = await trainContentModel({ folder: own, pictures, classes });
    expect(second).not.toBe(first);
    const bytes = await picture(1);
    const analyses = await Promise.allSettled([1, 2].map(() => analyzer.analyze(bytes, { modules: ['content'] })));
    const [kept, refused] = analyses.toSorted((a, b) => a.status.localeCompare(b.status));
    const { outputs } = (kept as PromiseFulfilledResult<Analysis>).value;
    expect(Buffer.from(JSON.parse(outputs).content_descriptor, 'base64').toString('latin1')).toContain(first);
    expect(refused).toMatchObject({
      reason: {
        code: 'unavailable',
        message: expect.stringContaining(`while this akin runs with ${first}: restart akin`),
      },
    });
    await rm(own, { recursive: true });
  });

  it('requires classes of readable pictures', async () => {
    const own = await mkdtemp(join(tmpdir(), 'akin-model-'));
    await saveTinyModel(own);
    const before = await readdir(own);
    const none = await mkdtemp(join(tmpdir(), 'akin-classes-'));
    const train = (folder: string) => trainContentModel({ folder: own, pictures, classes: folder });
    await expect(train(join(none, 'nowhere'))).rejects.toThrow('There is no folder');
    await expect(train(pictures)).rejects.toThrow('contains no folder with 3 pictures of a class');
    await mkdir(join(none, 'cut'));
    for (const i of [1, 2, 3]) await writeFile(join(none, 'cut', `${i}.jpg`), (await picture(i)).subarray(0, 40));
    await expect(train(none)).rejects.toThrow('contains no folder with 3 readable pictures of a class');
    expect(await readdir(own)).toEqual(before);
    await rm(own, { recursive: true });
    await rm(none, { recursive: true });
  });
});

describe('what is wrong with a model', () => {
  const good = { name: 'tiny', version: '7', input: { width: 48, height: 48 } };
  it.each([
    ['{', 'is not JSON'],
    ['null', 'is not a JSON object'],
    [JSON.stringify({ ...good, name: 'a b' }), 'needs "name"'],
    [JSON.stringify({ ...good, version: 3 }), 'needs "version"'],
    [JSON.stringify({ ...good, input: { width: 0, height: 48 } }), 'needs "input.width"'],
    [JSON.stringify({ ...good, input: { ...good.input, std: [1, 0, 1] } }), 'has 0 in "input.std"'],
    [JSON.stringify({ ...good, input: { ...good.input, mean: [1] } }), 'has "input.mean", which is not three numbers'],
    [JSON.stringify({ ...good, output: 3 }), 'has "output", which is not a name'],
    [JSON.stringify({ ...good, output: '' }), 'has "output", which is not a name'],
    [JSON.stringify({ ...good, model: '../secret' }), 'needs "model"'],
    [JSON.stringify({ ...good, input: '48' }), 'needs "input", an object with width and height'],
    [JSON.stringify({ ...good, outputs: 'pool' }), 'has "outputs": it may have name, version, model, input, output'],
    [JSON.stringify({ ...good, input: { ...good.input, scale: 1 } }), 'has "scale": it may have'],
  ])('is refused: %s', async (text, why) => {
    const other = await mkdtemp(join(tmpdir(), 'akin-manifest-'));
    await writeFile(join(other, 'content-model.json'), text);
    expect(() => readManifest(other)).toThrow(why);
    await rm(other, { recursive: true });
  });

  it('is refused without a wait if one of its files is a pipe', async () => {
    const other = await mkdtemp(join(tmpdir(), 'akin-model-'));
    await saveTinyModel(other);
    for (const name of await readdir(other)) {
      const file = join(other, name);
      const bytes = await readFile(file);
      await rm(file);
      await promisify(execFile)('mkfifo', [file]);
      await expect(readModelFiles(other)).rejects.toThrow(`${file} is not a file.`);
      await rm(file);
      await writeFile(file, bytes);
    }
    const codebook = join(other, CODEBOOK_FILE);
    await promisify(execFile)('mkfifo', [codebook]);
    expect(() => readTrained(other)).toThrow(`${codebook} is not a file.`);
    await rm(other, { recursive: true });
  });

  it('accepts a byte order mark before its manifest', async () => {
    const other = await mkdtemp(join(tmpdir(), 'akin-manifest-'));
    await writeFile(join(other, 'content-model.json'), `\uFEFF${JSON.stringify(good)}`);
    expect(readManifest(other)).toMatchObject({ name: 'tiny', width: 48 });
    await rm(other, { recursive: true });
  });

  it.each([
    ['is not an object', null],
    ['names no files', {}],
    ['names a file that is not a text', { paths: [7], weights: [] }],
    ['names no weights', { paths: ['weights.bin'] }],
    ['names a file above the folder', { paths: ['a/../../weights.bin'], weights: [] }],
    ['names a file above the folder of Windows', { paths: ['..\\weights.bin'], weights: [] }],
    ['names a file by its whole path', { paths: ['/weights.bin'], weights: [] }],
  ])('is refused with a group of weights that %s', async (_, group) => {
    const root = await mkdtemp(join(tmpdir(), 'akin-model-'));
    const other = join(root, 'model');
    await saveTinyModel(other);
    await mkdir(join(other, 'a'));
    for (const place of [root, other]) await writeFile(join(place, 'weights.bin'), 'beside');
    await writeFile(join(other, 'model.json'), JSON.stringify({ modelTopology: {}, weightsManifest: [group] }));
    await expect(readModelFiles(other)).rejects.toMatchObject({
      code: 'bad-request',
      message: `${join(other, 'model.json')} has a "weightsManifest" that does not name weights and files in this folder.`,
    });
    await rm(root, { recursive: true });
  });

  it('reports a folder without a model, a model without its output, and too few pictures', async () => {
    await expect(trainContentModel({ folder: pictures, pictures })).rejects.toThrow(
      'content-model.json cannot be read',
    );
    const other = await mkdtemp(join(tmpdir(), 'akin-model-'));
    await saveTinyModel(other, { output: 'nowhere' });
    await expect(trainContentModel({ folder: other, pictures })).rejects.toThrow('cannot be opened');
    await saveTinyModel(other);
    await expect(trainContentModel({ folder: other, pictures: other })).rejects.toThrow('Training needs at least 100');
    await rm(other, { recursive: true });
  });
});

describe('a model that gives nothing to tell pictures by', () => {
  it.each<[string, Record<string, unknown>, ((weights: Float32Array) => void) | undefined, string]>([
    [
      'numbers that are none',
      { output: undefined },
      (weights) => weights.fill(Number.NaN, -1),
      'numbers that are not finite',
    ],
    ['the same for all', {}, (weights) => weights.fill(0), `gives the same vector for all ${PICTURES} pictures`],
    ['too many numbers', { output: 'wide' }, undefined, 'gives 7290 numbers for a picture, and 2 to 4096 can be used'],
  ])('is refused: %s', async (_, manifest, spoil, why) => {
    const other = await mkdtemp(join(tmpdir(), 'akin-model-'));
    await saveTinyModel(other, manifest, spoil);
    await expect(trainContentModel({ folder: other, pictures })).rejects.toThrow(why);
    await rm(other, { recursive: true });
  });
});

describe('a graph model', () => {
  it('is known by its nodes where its format is not named', async () => {
    const graph = await mkdtemp(join(tmpdir(), 'akin-graph-'));
    await saveTinyGraph(graph);
    const file = join(graph, 'graph.json');
    const { format, ...rest } = JSON.parse(await readFile(file, 'utf8'));
    expect(format).toBe('graph-model');
    await writeFile(file, JSON.stringify(rest));
    const run = await openModel(graph, await readModelFiles(graph), 'wasm');
    expect(run({ width: 1, height: 1, data: Uint8Array.of(255, 0, 0) })).toHaveLength(5);
    await rm(graph, { recursive: true });
  });

  it('is trained and gives vectors, those of a map averaged over its places', async () => {
    const graph = await mkdtemp(join(tmpdir(), 'akin-graph-'));
    await saveTinyGraph(graph);
    const { model: name } = await trainContentModel({ folder: graph, pictures });
    const analyzer = await createAnalyzer({ threads: 1, contentModel: graph, backend: 'onnx' });
    const { outputs } = await analyzer.analyze(await picture(3), { modules: ['content'] });
    await analyzer[Symbol.asyncDispose]();
    const { content_descriptor } = JSON.parse(outputs) as { content_descriptor: string };
    expect(Buffer.from(content_descriptor, 'base64').toString('latin1')).toContain(`${name}/content`);
    await rm(graph, { recursive: true });
  });
});
