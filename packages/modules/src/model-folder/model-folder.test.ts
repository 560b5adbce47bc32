import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Pixels } from '@akin/imaging';
import { drawImage, TINY_TOWERS } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { noise } from '../../test/noise.ts';
import { tinyTowers } from '../../test/tiny-towers.ts';
import { createAnalyzer, createPool } from '../analyzer/create-analyzer.ts';
import { draw } from '../picture/drawing.ts';
import { l2Normalize } from '../vectors/unit.ts';
import { activeModelSet, distanceAt, modelNames, parseOutputs, scoreOf } from '../vectors.ts';
import { readModelFolder } from './files.ts';
import { hashLargeFiles } from './hash-file.ts';
import { resizeLikePillow } from './pillow-resize.ts';
import { preprocess, readPreprocessing } from './preprocessing.ts';
import { trainContentModel } from './train.ts';
import { contentCodebook, useContentModel } from './use-content-model.ts';

const WORKER = new URL('../../dist/analyzer/worker.js', import.meta.url);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'akin-model-folder-'));
  await cp(TINY_TOWERS, folder, { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a function while one of the JSON files has other keys. */
async function changed<T>(name: string, keys: Record<string, unknown>, run: () => T | Promise<T>): Promise<T> {
  const file = join(folder, name);
  const before = await readFile(file, 'utf8');
  await writeFile(file, JSON.stringify({ ...JSON.parse(before), ...keys }));
  try {
    return await run();
  } finally {
    await writeFile(file, before);
  }
}

const messageOf = (run: () => unknown) => {
  try {
    run();
    return 'nothing is refused';
  } catch (error) {
    return (error as Error).message;
  }
};

const png = ({ width, height, data }: Pixels) =>
  sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();

/** Red in the middle square, blue on both sides. */
const wide = () => draw(96, 32, (x) => (x > 1 / 3 && x < 2 / 3 ? '#ff0000' : '#0000ff'));

it('works with the tiny towers that akin writes', async () => {
  for (const [path, bytes] of tinyTowers()) {
    const there = await readFile(join(TINY_TOWERS, path)).catch(() => Buffer.alloc(0));
    // To write the files again after an intended change: AKIN_WRITE_TINY_TOWERS=1 npm test --
    // packages/modules/src/model-folder
    if (process.env.AKIN_WRITE_TINY_TOWERS) await writeFile(join(TINY_TOWERS, path), bytes);
    else expect([path, there.equals(bytes)]).toEqual([path, true]);
  }
});

describe('resizing', () => {
  // Hashes computed with Pillow 12.3: noise resized by Lanczos, bilinear and bicubic.
  it.each([
    [90, 61, 32, 32, '85aff7d80eb4a421', '39baa8a1ee173a9b', '36ec4e509303a098'],
    [37, 50, 224, 256, '2bbd388df2298668', 'c600a2eb96f5f46d', 'ad795da195c4dab5'],
    [640, 403, 16, 16, '087e8fc79b926f93', 'd8708b75c4f72f81', 'd811814b1f6bd326'],
    [5, 3, 5, 9, '73bcc04bbf9c23b7', '025fc894d211ef6d', '231b06ade01f8f12'],
    [1, 1, 7, 7, 'e45e24ad0999f155', 'e45e24ad0999f155', 'e45e24ad0999f155'],
  ])('gives the bytes of Pillow for %d x %d to %d x %d', (width, height, toWidth, toHeight, ...hashes) => {
    const pixels = noise(width, height, 3);
    const hash = (resample: number) =>
      createHash('sha256')
        .update(resizeLikePillow(pixels, toWidth, toHeight, resample).data)
        .digest('hex')
        .slice(0, 16);
    expect([hash(1), hash(2), hash(3)]).toEqual(hashes);
  });
});

describe('preprocessing', () => {
  it('squashes, or crops the middle after scaling the shortest edge, as the file says', async () => {
    const squashed = preprocess(wide(), readPreprocessing(folder));
    const edge = {
      image_processor_type: 'CLIPImageProcessor',
      size: { shortest_edge: 32 },
      crop_size: 32,
      do_center_crop: true,
    };
    const cropped = await changed('preprocessor_config.json', edge, () =>
      preprocess(wide(), readPreprocessing(folder)),
    );
    const mean = (values: Float32Array) =>
      [0, 1, 2].map((channel) => {
        const plane = values.subarray(channel * 1024, (channel + 1) * 1024);
        return Math.round((plane.reduce((sum, value) => sum + value, 0) / 1024) * 10) / 10;
      });
    expect([mean(squashed), mean(cropped)]).toEqual([
      [-0.3, -1, 0.3],
      [1, -1, -1],
    ]);
  });

  it('crops the centre of a resized picture, and computes only that part', () => {
    const pixels = noise(37, 50, 3);
    const whole = resizeLikePillow(pixels, 224, 303, 3);
    const part = { left: 40, top: 33, width: 60, height: 70 };
    const rows = Array.from({ length: part.height }, (_, row) => {
      const from = ((row + part.top) * whole.width + part.left) * 3;
      return whole.data.subarray(from, from + part.width * 3);
    });
    expect(Buffer.from(resizeLikePillow(pixels, 224, 303, 3, part).data)).toEqual(Buffer.concat(rows));
    // Resizing this picture as a whole would take 12 GB.
    const preprocessing = {
      ...readPreprocessing(folder),
      resize: { shortestEdge: 256 },
      crop: { width: 32, height: 32 },
    };
    const line = { width: 65_500, height: 1, data: new Uint8Array(65_500 * 3).fill(255) };
    for (const one of [line, { ...line, width: 1, height: 65_500 }]) {
      expect(preprocess(one, preprocessing)).toEqual(new Float32Array(32 * 32 * 3).fill(1));
    }
  });

  it.each([
    [{ crop_pct: 0.9 }, 'has "crop_pct", which akin does not know'],
    [{ do_pad: true }, 'has "do_pad", which akin does not know'],
    [{ image_processor_type: 'ConvNextImageProcessor' }, 'has the image_processor_type "ConvNextImageProcessor"'],
    [{ image_processor_type: undefined }, 'has the image_processor_type null'],
    [{ size: { longest_edge: 9 } }, 'has "longest_edge" in "size"'],
    [{ size: { shortest_edge: 32 } }, 'leaves pictures of any size'],
    [{ size: 1e9 }, 'has a "size" that is not a number of pixels'],
    [{ resample: 5 }, 'has the resample 5'],
    [{ image_mean: 'x' }, 'needs "image_mean", three numbers'],
    [{ image_std: [0, 1, 1] }, 'has 0 in "image_std"'],
    [{ do_resize: 'yes' }, 'has "do_resize", which is neither true nor false'],
    [{ image_mean: [1e300, 0, 0] }, 'needs "image_mean", three numbers'],
    [{ image_std: [1e-300, 1, 1] }, 'has 0 in "image_std"'],
    [{ rescale_factor: 1e300 }, 'has a "rescale_factor" that is not a positive number'],
    [{ rescale_factor: -1 }, 'has a "rescale_factor" that is not a positive number'],
  ])('refuses %j by name', async (keys, message) => {
    const said = await changed('preprocessor_config.json', keys, () => messageOf(() => readPreprocessing(folder)));
    expect(said).toContain(`${join(folder, 'preprocessor_config.json')} ${message}`);
  });
});

describe('a model in the layout of Hugging Face', () => {
  it.each([
    [{ model_type: 'florence2' }, 'has the model_type "florence2", which akin does not know'],
    [{ model_type: { a: 1 } }, 'has the model_type {"a":1}'],
    [{ vision_config: { hidden_size: 12 } }, 'says that the model gives 12 numbers'],
    [{ vision_config: { hidden_size: 'x' } }, 'has "vision_config.hidden_size", which is not'],
    [
      { text_config: { max_position_embeddings: 2 ** 53 } },
      'has "text_config.max_position_embeddings", which is more than 8192',
    ],
  ])('is refused for %j by name', async (keys, message) => {
    const said = await changed('config.json', keys, () => messageOf(() => readModelFolder(folder)));
    expect(said).toContain(`${join(folder, 'config.json')} ${message}`);
  });

  it('is read through symbolic links, as in the cache of Hugging Face; errors name the unreadable file', async () => {
    const place = await mkdtemp(join(tmpdir(), 'akin-odd-model-'));
    const odd = join(place, 'model');
    const vision = join(odd, 'onnx', 'vision_model.onnx');
    await mkdir(join(odd, 'onnx'), { recursive: true });
    for (const name of ['config.json', 'preprocessor_config.json', 'tokenizer.json', 'tokenizer_config.json']) {
      await symlink(join(folder, name), join(odd, name));
    }
    await symlink(join(folder, 'onnx', 'vision_model.onnx'), vision);
    expect(readModelFolder(odd).id).toBe(readModelFolder(folder).id);
    const said = async () => {
      await hashLargeFiles(odd);
      return messageOf(() => readModelFolder(odd));
    };
    const placed = async (change: () => Promise<unknown>) => {
      await rm(vision, { force: true, recursive: true });
      await change();
      return said();
    };
    expect(await placed(() => symlink(vision, vision))).toContain(`${odd} has no onnx/vision_model.onnx`);
    expect(await placed(() => mkdir(vision))).toBe(`${vision} cannot be read (no file).`);
    expect(await placed(() => promisify(execFile)('mkfifo', [vision]))).toBe(`${vision} cannot be read (no file).`);
    const config = join(odd, 'config.json');
    await rm(config);
    await writeFile(config, '');
    await truncate(config, 2 ** 40);
    expect(await said()).toBe(`${config} is larger than 64 MB.`);
    await rm(config);
    await promisify(execFile)('mkfifo', [config]);
    expect(await said()).toBe(`${config} is not a file.`);
    await rm(config);
    await writeFile(config, '[]');
    expect(await said()).toBe(`${config} is not a JSON object.`);
    await rm(place, { recursive: true });
  });

  it('has a name that depends on weights and preprocessing, but not on its folder or on spaces', async () => {
    const { id } = readModelFolder(folder);
    expect([id, readModelFolder(TINY_TOWERS).id]).toEqual([expect.stringMatching(/^tiny-siglip:[0-9a-f]{8}$/), id]);
    const idWith = (keys: Record<string, unknown>) =>
      changed('preprocessor_config.json', keys, () => readModelFolder(folder).id);
    expect(await idWith({ processor_class: 'Other' })).toBe(id);
    expect(await idWith({ resample: 2 })).not.toBe(id);
    const file = join(folder, 'onnx/vision_model.onnx');
    const before = await readFile(file);
    await writeFile(file, Buffer.concat([before, Buffer.from([0])]));
    expect(readModelFolder(folder).id).not.toBe(id);
    await writeFile(file, before);
  });

  it('is rejected before its first picture if its weights are damaged or have other shapes', async () => {
    const file = join(folder, 'onnx/vision_model.onnx');
    const before = await readFile(file);
    await writeFile(file, before.subarray(0, 200));
    const analyze = async () => {
      await using pool = createPool({ threads: 1, contentModel: folder }, WORKER);
      return await pool.analyze(await png(wide()), { modules: ['content'] });
    };
    await expect(analyze()).rejects.toThrow(`${file} cannot be opened: `);
    await writeFile(file, before);
    const wider = () => changed('config.json', { vision_config: { hidden_size: 32 } }, analyze);
    await expect(wider()).rejects.toThrow(`${file} gives 16 numbers, and its config.json says 32`);
  });

  it('has no text encoder without a tokenizer, and names a damaged or missing file before the first text', async () => {
    const place = await mkdtemp(join(tmpdir(), 'akin-words-'));
    const named = join(place, 'model');
    const without = async (name: string, bytes?: Uint8Array) => {
      await cp(TINY_TOWERS, named, { recursive: true });
      if (bytes === undefined) await rm(join(named, name));
      else await writeFile(join(named, name), bytes);
      const analyzer = await createAnalyzer({ threads: 1, contentModel: named }).catch((error: Error) => error.message);
      if (typeof analyzer !== 'string') await analyzer[Symbol.asyncDispose]();
      return typeof analyzer === 'string' ? analyzer : contentCodebook(named).textCalibration;
    };
    expect(await without('tokenizer.json')).toBeUndefined();
    expect(await without('tokenizer_config.json')).toBe(
      `${join(named, 'tokenizer_config.json')} cannot be read (ENOENT).`,
    );
    for (const damaged of ['{}', '{"model": {"type": "odd"}}']) {
      expect(await without('tokenizer.json', Buffer.from(damaged))).toContain(
        `${join(named, 'tokenizer.json')} cannot be used: `,
      );
    }
    const text = await readFile(join(TINY_TOWERS, 'onnx/text_model.onnx'));
    expect(await without('onnx/text_model.onnx', text.subarray(0, 200))).toContain(
      'text_model.onnx cannot be opened: ',
    );
    await rm(place, { recursive: true });
  });

  it('gives outputs without any training, which are compared by its name and its size', async () => {
    useContentModel(folder);
    const { id } = readModelFolder(folder);
    expect(modelNames()).toContain(`content=${id}`);
    expect(activeModelSet().modules.map(({ descriptor }) => descriptor?.dimensions)).toEqual([64, 16, undefined, 256]);
    await using pool = createPool({ threads: 2, contentModel: folder }, WORKER);
    const analyze = async (pixels: Pixels) => (await pool.analyze(await png(pixels), { modules: ['content'] })).outputs;
    const [squashed, again] = await Promise.all([analyze(wide()), analyze(wide())]);
    expect(again).toBe(squashed);
    const { descriptors, fields } = parseOutputs(squashed);
    expect(fields.get('content_rerank')).toEqual(expect.any(BigInt));
    const vector = descriptors.get('content')?.vector as Float32Array;
    // A third is red and two thirds are blue; 4 is the constant number of pictures.
    const expected = l2Normalize([2 / 3 - 1, -1, 4 / 3 - 1, 4, ...Array(12).fill(0)]);
    expect(Math.max(...vector.map((value, i) => Math.abs(value - (expected[i] as number))))).toBeLessThan(0.01);
  });

  it('scores 0.3 for the distance that few unrelated pictures are below', () => {
    const { calibration } = contentCodebook(folder);
    expect(calibration.map(([, score]) => score)).toEqual([1, 0.7, 0.3, 0.1, 0]);
    expect(scoreOf('content', distanceAt('content', 0.3))).toBeCloseTo(0.3, 5);
  });

  it('is calibrated by a training, which changes neither its name nor its vectors', async () => {
    const pictures = await mkdtemp(join(tmpdir(), 'akin-pictures-'));
    for (let seed = 0; seed < 100; seed++) {
      await writeFile(join(pictures, `${seed}.jpg`), await drawImage({ width: 40, height: 30, seed }));
    }
    const { id } = readModelFolder(folder);
    const before = contentCodebook(folder);
    expect(await trainContentModel({ folder, pictures })).toEqual({ model: id, pictures: 100 });
    const after = contentCodebook(folder);
    expect([after.model, after.calibration.length]).toEqual([id, 5]);
    expect(after.calibration).not.toEqual(before.calibration);
    const file = join(folder, 'akin-calibration.json');
    for (const [damage, message] of [
      ['{"model": "other:1", "calibration": []}', 'was measured with other:1, not with'],
      [`{"model": "${id}", "calibration": [[0, 1], [0, 0]]}`, 'is damaged'],
      ['{', 'is damaged'],
    ] as const) {
      await writeFile(file, damage);
      expect(messageOf(() => contentCodebook(folder))).toContain(`${file} ${message}`);
    }
    await rm(file);
    await rm(pictures, { recursive: true });
  });
});
