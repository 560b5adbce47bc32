import { channel } from 'node:diagnostics_channel';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AkinError } from '@akin/domain';
import { decodingBytes, makeThumbnailFromPixels, type Pixels } from '@akin/imaging';
import { drawLargeImage } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { moduleNames } from '../manifests.ts';
import { disc, draw, stripes } from '../picture/drawing.ts';
import { analyzeImage } from './analyze-image.ts';
import { type Analyzer, createAnalyzer, createPool } from './create-analyzer.ts';

const KEYS = [
  ...['color_palette_hex', 'color_palette_freq', 'color_names', 'color_isolated'],
  ...['color', 'content', 'duplicate'].flatMap((module) =>
    ['cluster', 'rerank', 'descriptor', 'lopq', 'nclusters'].map((key) => `${module}_${key}`),
  ),
  'copyspace',
];

/** A WebP file of a drawn picture. */
const image = (pixels = disc('#FFFFFF', '#C02020')) => makeThumbnailFromPixels(pixels);

/** Waits until this many calls with these bytes have their memory, and as many of them as possible a thread. */
async function untilIn(analyzer: Analyzer, bytes: Uint8Array, calls: number): Promise<void> {
  const needed = await decodingBytes(bytes, { minSide: 256 });
  while (analyzer.decoding.taken < needed * calls) await new Promise(setImmediate);
  await new Promise(setImmediate);
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

describe('the analysis of one image', () => {
  it('gives all 20 keys in their shapes', async () => {
    const { outputs } = await analyzeImage(await image());
    const parsed = JSON.parse(outputs) as Record<string, unknown>;
    expect(Object.keys(parsed).sort()).toEqual([...KEYS].sort());
    for (const module of ['color', 'content', 'duplicate']) {
      expect(parsed[`${module}_cluster`]).toEqual(expect.any(Number));
      expect(Number.isInteger(parsed[`${module}_cluster`])).toBe(true);
      for (const key of ['descriptor', 'lopq', 'nclusters']) expect(parsed[`${module}_${key}`]).toMatch(base64);
      const digits = new RegExp(`"${module}_rerank":(-?\\d+)[,}]`).exec(outputs)?.[1] ?? '';
      expect(BigInt.asIntN(64, BigInt(digits))).toBe(BigInt(digits));
    }
    expect(outputs).toMatch(/"color_palette_freq":\[\d+\.\d+(,\d+\.\d+)*\]/);
    expect(parsed.color_isolated).toBe(true);
    expect(parsed.copyspace).toEqual([0, 2, 6, 8]);
  });

  it('gives the same text each time, and the same values whatever else is asked for', async () => {
    const bytes = await image(stripes('#204080', '#E0C020', 7, 600, 500));
    const all = await analyzeImage(bytes);
    expect(await analyzeImage(bytes)).toEqual({ ...all, times: expect.anything() });
    for (const module of moduleNames) {
      const { outputs } = await analyzeImage(bytes, { modules: [module] });
      expect(JSON.parse(all.outputs)).toMatchObject(JSON.parse(outputs));
    }
  });

  it('sees only the region that was asked for', async () => {
    const [left, right] = [disc('#FFFFFF', '#C02020'), stripes('#204080', '#E0C020', 7)];
    const png = (pixels: Pixels[]) =>
      sharp({ create: { width: 256 * pixels.length, height: 256, channels: 3, background: '#000' } })
        .composite(
          pixels.map(({ data }, i) => {
            const raw = { width: 256, height: 256, channels: 3 } as const;
            return { input: Buffer.from(data), raw, left: 256 * i, top: 0 };
          }),
        )
        .png()
        .toBuffer();
    const both = await png([left, right]);
    for (const [pixels, x] of [[left, 0] as const, [right, 0.5] as const]) {
      const alone = await analyzeImage(await png([pixels]), { thumbnail: true });
      const region = { x, y: 0, width: 0.5, height: 1 };
      expect(await analyzeImage(both, { region, thumbnail: true })).toEqual({ ...alone, times: expect.anything() });
    }
  });

  it('makes a thumbnail and reads EXIF only when asked', async () => {
    const bytes = await image(draw(300, 200, (x) => (x < 0.5 ? '#000000' : '#FFFFFF')));
    const plain = await analyzeImage(bytes, { modules: [] });
    expect(plain).toEqual({ outputs: '{}', width: 256, height: 171, times: { decode: expect.any(Number) } });
    const full = await analyzeImage(bytes, { modules: [], thumbnail: true, facts: {} });
    expect(
      Buffer.from(full.thumbnail ?? [])
        .subarray(8, 12)
        .toString(),
    ).toBe('WEBP');
    expect(full.facts).toEqual({});
  });

  it('says what is wrong with bytes that are no image, and with a module that does not exist', async () => {
    await expect(analyzeImage(Buffer.from('<svg/>'))).rejects.toMatchObject({ code: 'unsupported-image' });
    await expect(analyzeImage(await image(), { modules: ['smell'] })).rejects.toThrow('modules.apply names "smell"');
  });
});

describe('the analyzer', () => {
  let analyzer: Analyzer;
  beforeAll(async () => {
    analyzer = await createAnalyzer({ threads: 2 });
  });
  afterAll(async () => {
    await analyzer[Symbol.asyncDispose]();
  });

  it('gives the same outputs in every thread, and does not modify the bytes', async () => {
    const files = await Promise.all([image(), image(stripes('#FF0000', '#00FF00')), image(disc('#000000', '#FFFFFF'))]);
    const before = files.map((file) => Buffer.from(file));
    const here = [];
    for (const file of files) here.push((await analyzeImage(file)).outputs);
    const there = await Promise.all(
      [...files, ...files].map((file) => analyzer.analyze(file, { modules: moduleNames })),
    );
    expect(there.map(({ outputs }) => outputs)).toEqual([...here, ...here]);
    expect(files.map((file) => Buffer.from(file))).toEqual(before);
  });

  it('hands over thumbnails', async () => {
    const { thumbnail } = await analyzer.analyze(await image(), { modules: [], thumbnail: true });
    expect(thumbnail).toBeInstanceOf(Uint8Array);
    expect(
      Buffer.from(thumbnail ?? [])
        .subarray(0, 4)
        .toString(),
    ).toBe('RIFF');
  });

  it('reports what is wrong with an image as an AkinError, across the thread', async () => {
    const failed = analyzer.analyze(Buffer.from('%PDF-1.7'), { modules: moduleNames });
    await expect(failed).rejects.toBeInstanceOf(AkinError);
    await expect(failed).rejects.toMatchObject({ code: 'unsupported-image', message: expect.stringContaining('PDF') });
  });

  it('stops immediately when aborted, waiting or running, and continues with the others', async () => {
    const bytes = await image();
    const giveUp = new AbortController();
    const calls = Array.from({ length: 6 }, () =>
      analyzer.analyze(bytes, { modules: moduleNames, signal: giveUp.signal }),
    );
    const settled = Promise.allSettled(calls);
    giveUp.abort(new Error('nobody waits any more'));
    for (const result of await settled) {
      expect(result).toMatchObject({ status: 'rejected', reason: { message: 'nobody waits any more' } });
    }
    await expect(analyzer.analyze(bytes, { modules: ['color'], signal: giveUp.signal })).rejects.toThrow('nobody');
    expect(await analyzer.analyze(bytes, { modules: ['color'] })).toMatchObject({ width: 256 });
  });

  it('lets an urgent request overtake a long queue', async () => {
    await using analyzer = await createAnalyzer({ threads: 1 });
    const bytes = await image();
    const order: string[] = [];
    const call = (name: string, urgent: boolean) =>
      analyzer.analyze(bytes, { modules: ['color'], urgent }).then(() => void order.push(name));
    const bulk = Array.from({ length: 10 }, (_, i) => call(`bulk ${i}`, false));
    await Promise.all([...bulk, call('urgent', true)]);
    // The first call already occupied the only thread.
    expect(order.indexOf('urgent')).toBe(1);
  });

  it('starts no thread before the first call', async () => {
    let started = 0;
    const count = () => void started++;
    channel('worker_threads').subscribe(count);
    await using other = await createAnalyzer({ threads: 1 });
    expect(started).toBe(0);
    await other.analyze(await image(), { modules: ['color'] });
    channel('worker_threads').unsubscribe(count);
    expect(started).toBe(1);
  });

  it('warms up and shuts down: finishes running calls and refuses the rest', async () => {
    const other = await createAnalyzer({ threads: 1 });
    await other.warmUp(['color']);
    const bytes = await image();
    const settled = Promise.allSettled([1, 2].map(() => other.analyze(bytes, { modules: ['color'] })));
    await untilIn(other, bytes, 2);
    await other[Symbol.asyncDispose]();
    const ends = (await settled).map((one) => (one.status === 'rejected' ? one.reason.code : one.value.width));
    expect(ends.sort()).toEqual([256, 'unavailable']);
    await expect(other.analyze(bytes, { modules: ['color'] })).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('finishes admitted calls when it is closed before a thread has started', async () => {
    const other = await createAnalyzer({ threads: 2 });
    const bytes = await image();
    const settled = Promise.allSettled([1, 2, 3].map(() => other.analyze(bytes, { modules: ['color'] })));
    await untilIn(other, bytes, 3);
    await other[Symbol.asyncDispose]();
    const ends = (await settled).map((one) => (one.status === 'rejected' ? one.reason.code : one.status));
    expect(ends.sort()).toEqual(['fulfilled', 'fulfilled', 'unavailable']);
  });
});

describe('the memory for pictures', () => {
  const MEGABYTE = 1024 ** 2;

  it('bounds the memory of simultaneous decoding for all callers, and finally admits everything', async () => {
    const kinds = ['jpeg', 'progressive-jpeg', 'png-16', 'interlaced-png-16', 'webp', 'gif'] as const;
    const files = await Promise.all(kinds.map((kind) => drawLargeImage(kind, 1500)));
    const needed = await Promise.all(files.map((file) => decodingBytes(file, { minSide: 256 })));
    const most = Math.max(...needed);
    // Enough memory for the largest picture, or for several of the others.
    await using analyzer = await createAnalyzer({ threads: 4, pictureMemory: Math.ceil((most * 8) / 7) });
    let seen = 0;
    const look = setInterval(() => {
      seen = Math.max(seen, analyzer.decoding.taken);
    }, 1);
    const order: string[] = [];
    const calls = Array.from({ length: 24 }, async (_, i) => {
      const urgent = i >= 18;
      await analyzer.analyze(files[i % files.length] as Buffer, { modules: [], urgent });
      order.push(urgent ? 'urgent' : 'bulk');
    });
    await Promise.all(calls);
    clearInterval(look);
    expect(seen).toBeGreaterThanOrEqual(Math.min(...needed));
    expect(seen).toBeLessThanOrEqual(most);
    expect([order.length, analyzer.decoding.taken, analyzer.decoding.waiting]).toEqual([24, 0, 0]);
    // A few bulk pictures had already started; then all urgent ones must come before the rest.
    expect(order.lastIndexOf('urgent')).toBeLessThan(18);
  });

  it('rejects a picture that needs more memory than the budget, before it is decoded', async () => {
    await using analyzer = await createAnalyzer({ threads: 1, pictureMemory: 8 * MEGABYTE });
    const refused = analyzer.analyze(await drawLargeImage('progressive-jpeg', 1500), { modules: [] });
    await expect(refused).rejects.toMatchObject({
      code: 'image-undecodable',
      message: expect.stringMatching(
        /megapixels need 1\d(\.\d)? MB to decode, and 7\.3 MB are allowed: raise --picture-memory/,
      ),
    });
    expect(await analyzer.analyze(await drawLargeImage('jpeg', 1500), { modules: [] })).toMatchObject({ width: 1500 });
  });
});

describe('a worker thread that breaks', () => {
  /** A picture followed by one more byte, which the test worker reads. */
  const pictureWith = (byte: number) =>
    Buffer.concat([Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64'), Uint8Array.of(byte)]);
  let folder: string;
  let pool: Analyzer;
  let worker: URL;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'akin-worker-'));
    const file = join(folder, 'worker.mjs');
    await writeFile(
      file,
      `export default ({ bytes }) => {
        const byte = bytes.at(-1);
        if (byte === 1) process.exit(3);
        if (byte === 2) throw new Error('secret path /etc');
        if (byte === 3) setImmediate(() => { throw new Error('later'); });
        if (byte === 3) return new Promise(() => {});
        if (byte === 4) for (;;);
        return { analysis: { outputs: String(byte), width: 1, height: 1 } };
      };`,
    );
    worker = pathToFileURL(file);
    pool = createPool({ threads: 2 }, worker);
  });
  afterAll(async () => {
    await pool[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  it.each([
    ['exits', 1],
    ['throws', 2],
    ['throws outside of its task', 3],
  ])('fails its own task alone when it %s, without telling what is inside', async (_, byte) => {
    const call = (value: number) => pool.analyze(pictureWith(value), { modules: [] });
    const results = await Promise.allSettled([call(7), call(byte), call(8), call(9)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    const error = (results[1] as PromiseRejectedResult).reason as AkinError;
    expect(error).toMatchObject({
      code: 'internal',
      message: expect.stringContaining('analysis of this image failed'),
    });
    expect(error.message).not.toContain('secret');
    expect(await call(10)).toMatchObject({ outputs: '10' });
  });

  it('is ended when it hangs, and replaced', async () => {
    const impatient = createPool({ threads: 1 }, worker, 1500);
    await expect(impatient.analyze(pictureWith(4), { modules: [] })).rejects.toMatchObject({
      code: 'image-undecodable',
      message: expect.stringContaining('took too long'),
    });
    // On a busy machine, the next thread may need this long to start.
    const next = async (): ReturnType<Analyzer['analyze']> =>
      impatient.analyze(pictureWith(5), { modules: [] }).catch((error: AkinError) => {
        if (error.code !== 'image-undecodable') throw error;
        return next();
      });
    expect(await next()).toMatchObject({ outputs: '5' });
    await impatient[Symbol.asyncDispose]();
  });
});
