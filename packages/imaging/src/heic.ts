import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { ImageLimits } from './limits.ts';

/**
 * The optional package that decodes HEIC: a WebAssembly build of libheif and libde265. akin does not include it because
 * libheif is under the LGPL, and HEVC is patented in some countries.
 */
export const HEIC_PACKAGE = 'heic-decode';

/** Path of the decoder; undefined if it is not installed. */
export function findHeicDecoder(name: string = HEIC_PACKAGE): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
}

/** Decoded pixels: RGBA, upright, in the colours of the file's profile. */
interface Decoded {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

/**
 * The program of the thread, as a text, so that it also works when akin is bundled. The memory of WebAssembly is freed
 * when the thread ends.
 */
const PROGRAM = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { decoder, bytes, pixels } = workerData;
  require(decoder).all({ buffer: bytes }).then(async ([picture]) => {
    if (picture.width * picture.height > pixels) throw new Error('more pixels than its header says');
    const { width, height, data } = await picture.decode();
    parentPort.postMessage({ width, height, data }, [data.buffer]);
  });
`;

/**
 * Decodes a HEIC file to an uncompressed TIFF, which the normal decoder reads.
 *
 * @throws Error with the message of the decoder, or one that begins with `timeout`
 */
export async function heicToTiff(
  bytes: Uint8Array,
  decoder: string,
  profile: Uint8Array | undefined,
  limits: Pick<ImageLimits, 'pixels' | 'decodeMilliseconds'>,
): Promise<Buffer> {
  return toTiff(await decodeInThread(bytes, decoder, limits), profile);
}

/** The decoder cannot be stopped otherwise. */
function decodeInThread(
  bytes: Uint8Array,
  decoder: string,
  { pixels, decodeMilliseconds }: Pick<ImageLimits, 'pixels' | 'decodeMilliseconds'>,
): Promise<Decoded> {
  const worker = new Worker(PROGRAM, { eval: true, workerData: { decoder, bytes, pixels } });
  return new Promise<Decoded>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('timeout: the decoder took too long')), decodeMilliseconds);
    worker.once('message', resolve).once('error', reject);
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(new Error('the decoder ended without a picture'));
    });
  }).finally(() => worker.terminate());
}

type Tag = readonly [tag: number, type: 3 | 4 | 7, values: readonly number[]];

/** Writes baseline TIFF 6.0: little-endian, one strip of RGBA, with the colour profile. */
function toTiff({ width, height, data }: Decoded, profile: Uint8Array | undefined): Buffer {
  const samples = Buffer.alloc(8);
  for (let i = 0; i < 4; i++) samples.writeUInt16LE(8, i * 2);
  const more: Uint8Array[] = [samples, ...(profile ? [profile] : [])];
  const entries = (at: number): Tag[] => [
    [256, 4, [width]],
    [257, 4, [height]],
    [258, 3, [at]],
    [259, 3, [1]],
    [262, 3, [2]],
    [273, 4, [at + more.reduce((sum, { length }) => sum + length, 0)]],
    [277, 3, [4]],
    [278, 4, [height]],
    [279, 4, [data.length]],
    [284, 3, [1]],
    [338, 3, [2]],
    ...(profile ? [[34675, 7, [at + samples.length]] as Tag] : []),
  ];
  const count = entries(0).length;
  const head = Buffer.alloc(8 + 2 + count * 12 + 4);
  head.write('II*\0', 'latin1');
  head.writeUInt32LE(8, 4);
  head.writeUInt16LE(count, 8);
  for (const [i, [tag, type, values]] of entries(head.length).entries()) {
    const at = 10 + i * 12;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(type, at + 2);
    head.writeUInt32LE(tag === 258 ? 4 : tag === 34675 ? (profile?.length ?? 0) : 1, at + 4);
    head.writeUInt32LE(values[0] ?? 0, at + 8);
  }
  return Buffer.concat([head, ...more, new Uint8Array(data.buffer, data.byteOffset, data.length)]);
}
