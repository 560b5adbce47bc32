import { join } from 'node:path';
import type { Pixels } from '@akin/imaging';
import { KERNELS, resizeLikePillow } from './pillow-resize.ts';
import { errorFactory, type Refuse, readJsonObject } from './read-json.ts';

/** The preprocessing of a picture for a model, from `preprocessor_config.json`. */
export interface Preprocessing {
  /** Resize to this size, or scale so that the shortest edge has this many pixels; undefined: no resizing. */
  readonly resize: { readonly width: number; readonly height: number } | { readonly shortestEdge: number } | undefined;
  readonly resample: number;
  /** Size of the central crop. Areas outside of the picture are black. */
  readonly crop: { readonly width: number; readonly height: number } | undefined;
  readonly factor: number;
  readonly mean: readonly number[];
  readonly std: readonly number[];
  readonly width: number;
  readonly height: number;
}

/** Image processors by name, with the defaults of their class. */
const PROCESSORS: Readonly<Record<string, { size: 'square' | 'edge'; crop: boolean; resample: number }>> = {
  CLIPImageProcessor: { size: 'edge', crop: true, resample: 3 },
  CLIPFeatureExtractor: { size: 'edge', crop: true, resample: 3 },
  BitImageProcessor: { size: 'edge', crop: true, resample: 3 },
  SiglipImageProcessor: { size: 'square', crop: false, resample: 3 },
  ViTImageProcessor: { size: 'square', crop: false, resample: 2 },
  ViTFeatureExtractor: { size: 'square', crop: false, resample: 2 },
  DINOv3ViTImageProcessor: { size: 'square', crop: false, resample: 2 },
};

const USED = new Set([
  ...['image_processor_type', 'feature_extractor_type', 'do_resize', 'size', 'resample', 'do_center_crop'],
  ...['crop_size', 'do_rescale', 'rescale_factor', 'do_normalize', 'image_mean', 'image_std'],
]);
/** Keys without effect here: pictures are always RGB, and the tensor layout is that of the model. */
const WITHOUT_EFFECT = new Set([
  ...['do_convert_rgb', 'processor_class', '_valid_processor_keys', 'data_format', 'input_data_format'],
  ...['default_to_square', 'device', 'return_tensors', 'disable_grouping', '_name_or_path'],
]);
const MAX_SIDE = 2048;
/** Means and factors are at most some hundreds. Much larger numbers would leave the range of the model. */
const MAX_NUMBER = 1e6;

/** @throws {AkinError} bad-request that names the key or value that is not supported. */
export function readPreprocessing(folder: string): Preprocessing {
  const file = join(folder, 'preprocessor_config.json');
  const sent = readJsonObject(file);
  const refuse = errorFactory(file);
  const unknown = Object.entries(sent).find(
    // Newer files list all possible keys; false or null means not used.
    ([key, value]) => !USED.has(key) && !WITHOUT_EFFECT.has(key) && value !== null && value !== false,
  );
  if (unknown !== undefined) throw refuse(`has ${JSON.stringify(unknown[0])}, which akin does not know`);
  const name = sent.image_processor_type ?? sent.feature_extractor_type;
  const processor = PROCESSORS[String(name).replace(/Fast$/, '')];
  if (typeof name !== 'string' || processor === undefined) {
    throw refuse(
      `has the image_processor_type ${JSON.stringify(name ?? null)}, which akin does not know. Known are ${Object.keys(PROCESSORS).join(', ')}`,
    );
  }
  const on = (key: string, unsaid: boolean): boolean => {
    const value = sent[key] ?? unsaid;
    if (typeof value !== 'boolean') throw refuse(`has ${JSON.stringify(key)}, which is neither true nor false`);
    return value;
  };
  const resize = on('do_resize', true) ? readSize(sent, processor.size, refuse) : undefined;
  const crop = on('do_center_crop', processor.crop) ? sidesOf('crop_size', sent.crop_size, refuse) : undefined;
  const size = crop ?? (resize && 'width' in resize ? resize : undefined);
  if (size === undefined) throw refuse('leaves pictures of any size, and a model takes one: it needs a "crop_size"');
  const resample = sent.resample ?? processor.resample;
  if (!(typeof resample === 'number' && Object.hasOwn(KERNELS, resample))) {
    throw refuse(`has the resample ${JSON.stringify(resample)}; known are 1 (Lanczos), 2 (bilinear), 3 (bicubic)`);
  }
  const normalized = on('do_normalize', true);
  const std = normalized ? channels('image_std', sent.image_std, refuse) : [1, 1, 1];
  if (std.some((value) => Math.abs(value) < 1 / MAX_NUMBER)) throw refuse('has 0 in "image_std"');
  const factor = on('do_rescale', true) ? (sent.rescale_factor ?? 1 / 255) : 1;
  if (!(typeof factor === 'number' && factor > 0 && factor <= MAX_NUMBER)) {
    throw refuse('has a "rescale_factor" that is not a positive number');
  }
  return {
    resize,
    resample,
    crop,
    factor,
    mean: normalized ? channels('image_mean', sent.image_mean, refuse) : [0, 0, 0],
    std,
    width: size.width,
    height: size.height,
  };
}

function readSize(
  { size, default_to_square: square }: Record<string, unknown>,
  unsaid: 'square' | 'edge',
  refuse: Refuse,
): NonNullable<Preprocessing['resize']> {
  const keys = typeof size === 'object' && size !== null ? Object.keys(size).sort().join() : '';
  if (keys === 'shortest_edge') {
    return { shortestEdge: side('size', (size as { shortest_edge: unknown }).shortest_edge, refuse) };
  }
  const isEdge = typeof square === 'boolean' ? !square : unsaid === 'edge';
  if (typeof size === 'number' && isEdge) return { shortestEdge: side('size', size, refuse) };
  return sidesOf('size', size, refuse);
}

function sidesOf(key: string, value: unknown, refuse: Refuse): { width: number; height: number } {
  if (typeof value === 'number') return { width: side(key, value, refuse), height: side(key, value, refuse) };
  const { width, height, ...more } = (value ?? {}) as Record<string, unknown>;
  const [unknown] = Object.entries(more).find(([, one]) => one !== null) ?? [];
  if (unknown !== undefined)
    throw refuse(`has ${JSON.stringify(unknown)} in ${JSON.stringify(key)}, which akin does not know`);
  return { width: side(key, width, refuse), height: side(key, height, refuse) };
}

function side(key: string, value: unknown, refuse: Refuse): number {
  if (Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_SIDE) return value as number;
  throw refuse(`has a ${JSON.stringify(key)} that is not a number of pixels from 1 to ${MAX_SIDE}`);
}

function channels(key: string, value: unknown, refuse: Refuse): number[] {
  const isUsual = (one: unknown) => Number.isFinite(one) && Math.abs(one as number) <= MAX_NUMBER;
  if (Array.isArray(value) && value.length === 3 && value.every(isUsual)) return value;
  throw refuse(`needs ${JSON.stringify(key)}, three numbers`);
}

/** Minimum short side of the decoded picture; the kernel does the final resizing to the model's size. */
export function minimumSide({ resize, width, height }: Preprocessing): number {
  if (resize === undefined) return Math.max(width, height);
  return 2 * ('shortestEdge' in resize ? resize.shortestEdge : Math.max(resize.width, resize.height));
}

/** The input numbers of the model: channel by channel (red, green, blue), row by row. */
export function preprocess(pixels: Pixels, preprocessing: Preprocessing): Float32Array {
  const { resize, resample, crop, factor, mean, std, width, height } = preprocessing;
  let to: { width: number; height: number } = pixels;
  if (resize !== undefined) to = 'width' in resize ? resize : byShortestEdge(pixels, resize.shortestEdge);
  const { data } =
    crop === undefined
      ? resizeLikePillow(pixels, to.width, to.height, resample)
      : centerCrop(pixels, to, resample, crop);
  const area = width * height;
  const values = new Float32Array(area * 3);
  for (let channel = 0; channel < 3; channel++) {
    const [middle, spread] = [mean[channel] as number, std[channel] as number];
    const table = Float32Array.from({ length: 256 }, (_, byte) => (byte * factor - middle) / spread);
    for (let i = 0, from = channel, to = channel * area; i < area; i++, from += 3, to++) {
      values[to] = table[data[from] as number] as number;
    }
  }
  return values;
}

/** The long side is truncated to whole pixels, as in the reference implementation. */
function byShortestEdge({ width, height }: Pixels, edge: number): { width: number; height: number } {
  if (width <= height) return { width: edge, height: Math.max(1, Math.trunc((edge * height) / width)) };
  return { width: Math.max(1, Math.trunc((edge * width) / height)), height: edge };
}

/** The centre of a resized picture, on black if the picture is smaller. */
function centerCrop(
  pixels: Pixels,
  to: { width: number; height: number },
  resample: number,
  { width, height }: { width: number; height: number },
): Pixels {
  const [x, y] = [offsetOf(to.width, width), offsetOf(to.height, height)];
  const [left, top] = [Math.max(0, x), Math.max(0, y)];
  const part = { left, top, width: Math.min(to.width, width), height: Math.min(to.height, height) };
  const seen = resizeLikePillow(pixels, to.width, to.height, resample, part);
  if (seen.width === width && seen.height === height) return seen;
  const data = new Uint8Array(width * height * 3);
  for (let row = 0; row < seen.height; row++) {
    const from = seen.data.subarray(row * seen.width * 3, (row + 1) * seen.width * 3);
    data.set(from, ((row + top - y) * width + left - x) * 3);
  }
  return { width, height, data };
}

/** Start of the crop: an odd remaining pixel is at the end, and for a smaller picture's border at the start. */
function offsetOf(size: number, crop: number): number {
  return size >= crop ? Math.floor((size - crop) / 2) : -Math.ceil((crop - size) / 2);
}
