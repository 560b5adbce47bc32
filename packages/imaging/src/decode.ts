import { AkinError, badRequest, type Region } from '@akin/domain';
import type { CreateRaw, Metadata } from 'sharp';
import { bmpMetadata, decodeBmp } from './bmp.ts';
import { countFrames, countScans } from './counts.ts';
import { bytesToDecode } from './decoder-bytes.ts';
import { readXmpOrientation } from './facts/xmp.ts';
import { findHeicDecoder, HEIC_PACKAGE, heicToTiff } from './heic.ts';
import { isSrgbProfile } from './icc.ts';
import { DEFAULT_IMAGE_LIMITS, formatBytes, type ImageLimits } from './limits.ts';
import { stripAncillaryChunks } from './png.ts';
import { rawPreview, withOrientation } from './raw.ts';
import { type CropBox, cropPixels, type Pixels } from './resize.ts';
import { configuredSharp } from './sharp.ts';
import { type EncodedType, type ImageType, sniffImage } from './sniff.ts';
import { mainPage } from './tiff-pages.ts';

export interface DecodedImage {
  readonly type: ImageType;
  /** Size of the picture in its file, or of the region of it, with EXIF orientation applied. */
  readonly width: number;
  readonly height: number;
  /** The picture at full size or reduced by a power of two. */
  readonly pixels: Pixels;
}

export interface DecodeOptions {
  /** Large pictures are not reduced below this length of the short side. */
  readonly minSide: number;
  /** Only this part of the picture. Its short side then counts for `minSide`. */
  readonly region?: Region | undefined;
  readonly limits?: Partial<ImageLimits>;
}

export interface BudgetOptions extends DecodeOptions {
  /** Maximum bytes of memory for decoding one picture. Default: no limit. */
  readonly memory?: number;
}

/**
 * Decodes a picture to upright 8-bit sRGB on white, or on black if nothing would be seen on white. EXIF orientation is
 * applied, the first frame that is not blank is taken (of a TIFF the first page, or the largest one if the first is a
 * thumbnail; of a raw file the largest JPEG inside), alpha is flattened, CMYK, grey, 16 bit and colour profiles are converted; an invalid profile is ignored.
 * Large pictures are reduced by 4, 8, 16 … while the short side stays at least `minSide`: the JPEG decoder then skips
 * most of its work, and memory stays small. The pixels do not depend on threads, SIMD or machine (see `shrink`).
 * Order of checks: bytes, magic bytes, frames, the type in the header, pixels, sides and scans, and then decoding with
 * a time limit. A truncated file is rejected, because its missing part would be compared as grey.
 *
 * @throws AkinError `too-large`, `unsupported-image` or `image-undecodable`, no other error for any bytes; `bad-request`
 * for a region that is too small.
 */
export async function decodeImage(bytes: Uint8Array, options: DecodeOptions): Promise<DecodedImage> {
  const { type, safe, page, header, limits, factor, target } = await inspect(bytes, options);
  const { width, height } = header.autoOrient;
  const plan = { type, page, header, target: factor === 1 ? undefined : target, limits, ground: WHITE };
  const pixels = await decodeVisible(safe, plan);
  if (factor === 1 && (pixels.width !== width || pixels.height !== height)) throw undecodableError(type);
  const found = { type: sniffImage(bytes), width, height, pixels };
  if (options.region === undefined) return found;
  const { width: regionWidth, height: regionHeight } = boxOf(options.region, width, height);
  const cut = cropPixels(pixels, boxOf(options.region, pixels.width, pixels.height));
  return { ...found, width: regionWidth, height: regionHeight, pixels: cut };
}

/** Smaller regions show too little to be compared. */
const MIN_REGION_SIDE = 16;

/** A region in whole pixels, at least one a side. */
function boxOf({ x, y, width, height }: Region, allWidth: number, allHeight: number): CropBox {
  const span = (from: number, size: number, all: number) => {
    const start = Math.min(Math.round(from * all), all - 1);
    return [start, Math.max(1, Math.min(Math.round((from + size) * all), all) - start)] as const;
  };
  const [left, boxWidth] = span(x, width, allWidth);
  const [top, boxHeight] = span(y, height, allHeight);
  return { left, top, width: boxWidth, height: boxHeight };
}

/** The length of the short side of what is wanted of a picture. @throws AkinError bad-request for a small region */
function wantedSide(width: number, height: number, region: Region | undefined): number {
  if (region === undefined) return Math.min(width, height);
  const box = boxOf(region, width, height);
  const side = Math.min(box.width, box.height);
  if (side >= MIN_REGION_SIDE) return side;
  throw badRequest(
    `The region has ${box.width} x ${box.height} pixels of a picture of ${width} x ${height}; it needs at least ${MIN_REGION_SIDE} a side. Choose a larger one.`,
  );
}

/**
 * Estimates the peak memory of `decodeImage` for a picture in bytes, including a copy of the file. Reads only the
 * header.
 *
 * @throws AkinError the errors of `decodeImage` before decoding; image-undecodable if `options.memory` is not enough
 */
export async function decodingBytes(bytes: Uint8Array, options: BudgetOptions): Promise<number> {
  const { memory = Number.POSITIVE_INFINITY } = options;
  const { type, safe, header, target } = await inspect(bytes, options);
  const needed = bytesToDecode({ type, bytes: safe, header, target });
  if (needed <= memory) return needed;
  const size = `${megapixels(header.width * header.height, 1)} megapixels need ${formatBytes(needed)} to decode`;
  throw new AkinError(
    'image-undecodable',
    `${size}, and ${formatBytes(memory)} are allowed: raise --picture-memory, or use a smaller version. A JPEG that is not progressive needs least.`,
  );
}

async function inspect(bytes: Uint8Array, options: DecodeOptions) {
  const limits = { ...DEFAULT_IMAGE_LIMITS, ...options.limits };
  if (bytes.length > limits.bytes) {
    throw new AkinError(
      'too-large',
      `The image has ${formatBytes(bytes.length)}; at most ${formatBytes(limits.bytes)} are read. Send a smaller version.`,
    );
  }
  const found = sniffImage(bytes);
  const type = found === 'raw' ? 'jpeg' : found;
  const file = found === 'raw' ? rawPreview(bytes) : bytes;
  const stored = type === 'png' ? stripAncillaryChunks(file) : file;
  const page = type === 'tiff' ? mainPage(stored) : 0;
  // Before the header is read: libvips already reads all frames for it.
  checkFrames(type, countFrames(type, stored, limits.frames), limits);
  const { safe, header } = await orientByXmp(type, stored, await readHeader(stored, type, page));
  checkHeader(type, header, limits);
  if (type === 'jpeg' && header.isProgressive) checkScans(safe, limits);
  const { width, height } = header.autoOrient;
  const factor = shrinkFactor(wantedSide(width, height, options.region), options.minSide);
  const target = { width: Math.ceil(width / factor), height: Math.ceil(height / factor) };
  return { type, safe, page, header, limits, factor, target };
}

/** A JPEG whose EXIF states no orientation has that of its XMP. */
async function orientByXmp(type: EncodedType, bytes: Uint8Array, header: Metadata) {
  const isWithout = type === 'jpeg' && header.orientation === undefined && header.xmp !== undefined;
  const orientation = isWithout ? readXmpOrientation(header.xmp as Buffer) : 1;
  if (orientation === 1) return { safe: bytes, header };
  const safe = withOrientation(bytes, orientation);
  return { safe, header: await readHeader(safe, type, 0) };
}

async function readHeader(bytes: Uint8Array, type: EncodedType, page: number): Promise<Metadata> {
  let header: Metadata;
  try {
    if (type === 'bmp') return bmpMetadata(bytes);
    // No limit here, because only the header is read; the next check reports the size in its error.
    header = await configuredSharp()(bytes, { limitInputPixels: false, page }).metadata();
  } catch (error) {
    throw undecodableError(type, error);
  }
  const seen = header.format === 'heif' ? HEIF_TYPES[header.compression ?? ''] : header.format;
  if (seen !== type) throw undecodableError(type);
  return header;
}

const HEIF_TYPES: Readonly<Record<string, EncodedType>> = { av1: 'avif', hevc: 'heic' };

function checkHeader(type: EncodedType, header: Metadata, limits: ImageLimits): void {
  const { width, height } = header.autoOrient;
  if (!(width > 0 && height > 0)) throw undecodableError(type);
  if (width * height > limits.pixels) {
    throw new AkinError(
      'image-undecodable',
      `The ${NAMES[type]} image has ${width} x ${height} pixels, over the limit of ${megapixels(limits.pixels)} megapixels. Send a smaller version.`,
    );
  }
  if (Math.max(width, height) > limits.side) {
    throw new AkinError(
      'image-undecodable',
      `The ${NAMES[type]} image has ${width} x ${height} pixels, over the limit of ${limits.side} a side. Send a smaller version.`,
    );
  }
  checkFrames(type, header.pages ?? 1, limits);
}

function checkFrames(type: EncodedType, frames: number, limits: ImageLimits): void {
  if (frames <= limits.frames) return;
  throw new AkinError(
    'image-undecodable',
    `The ${NAMES[type]} image has more than ${limits.frames} frames, which is the limit. Send its first frame alone.`,
  );
}

/** The time limit for decoding cannot interrupt the decoder while it reads the scans. */
function checkScans(bytes: Uint8Array, limits: ImageLimits): void {
  const scans = countScans(bytes);
  if (scans <= limits.scans) return;
  throw new AkinError(
    'image-undecodable',
    `The JPEG image has ${scans} scans, over the limit of ${limits.scans}. Save it again in an image editor.`,
  );
}

/**
 * The power of two to reduce by; 1 below 4, because reducing by 2 saves nothing.
 * sharp always resizes after the JPEG decoder: for a target of exactly 1/2^k the decoder reduces to twice the target,
 * and sharp halves that with a kernel of fixed-point weights. The cubic kernel needs no function of the maths library,
 * unlike Lanczos, and is about as close to the exact area average. WebP has a reducing decoder too. The bytes are the
 * same with SIMD on and off. Measured on 2 cores, 12 megapixels: JPEG 42 ms at full size, 19 ms at 1/8; WebP 160 and 60
 * ms.
 */
function shrinkFactor(shortSide: number, minSide: number): number {
  let factor = 1;
  while (shortSide / (factor * 2) >= minSide) factor *= 2;
  return factor >= 4 ? factor : 1;
}

interface DecodePlan {
  readonly type: EncodedType;
  /** The page of a TIFF. */
  readonly page: number;
  readonly header: Metadata;
  readonly target: { width: number; height: number } | undefined;
  /** The colour behind transparent parts. */
  readonly ground: string;
  readonly limits: ImageLimits;
}

type Strictness = 'truncated' | 'warning';

const WHITE = '#ffffff';
const BLACK = '#000000';
/** At most this many frames are decoded to find one that is not blank. */
const MAX_FRAMES_TRIED = 32;
/** At most about this many pixels are: a frame needs all that are before it. About a second. */
const MAX_PIXELS_TRIED = 128_000_000;

function framesTried({ type, header: { pages = 1, width, height } }: DecodePlan): number {
  // Pages of a TIFF may have different sizes.
  if (type !== 'gif' && type !== 'webp') return 1;
  return Math.min(pages, MAX_FRAMES_TRIED, Math.floor(Math.sqrt((2 * MAX_PIXELS_TRIED) / (width * height))));
}

/**
 * White drawings on a transparent ground and animations that begin with a blank frame would all be alike otherwise. What
 * is blank on both grounds and in all frames stays as it is: on white, the first frame.
 */
async function decodeVisible(bytes: Uint8Array, plan: DecodePlan): Promise<Pixels> {
  const onWhite = await decodePixels(bytes, plan);
  const frames = framesTried(plan);
  let seen = onWhite;
  for (let page = 0; page < frames; page++) {
    if (!isBlank(seen)) return seen;
    if (plan.header.hasAlpha) {
      const onBlack = await decodePixels(bytes, { ...plan, page: page || plan.page, ground: BLACK });
      if (!isBlank(onBlack)) return onBlack;
    }
    if (page + 1 === frames) break;
    try {
      seen = await decodePixels(bytes, { ...plan, page: page + 1 });
    } catch {
      // Only the first frame must be whole.
      break;
    }
  }
  return onWhite;
}

/** A pixel belongs to a plain ground if no channel differs from it by more levels. */
const GROUND_LEVELS = 16;
/** Share of pixels that may be of another colour in a blank picture: a speck. */
const MAX_SPECK = 0.001;

/** Whether nearly all pixels have the colour of the first one. */
function isBlank({ data }: Pixels): boolean {
  const [red = 0, green = 0, blue = 0] = data;
  let left = (data.length / 3) * MAX_SPECK;
  for (let i = 0; i < data.length; i += 3) {
    const isGround =
      Math.abs((data[i] as number) - red) <= GROUND_LEVELS &&
      Math.abs((data[i + 1] as number) - green) <= GROUND_LEVELS &&
      Math.abs((data[i + 2] as number) - blue) <= GROUND_LEVELS;
    if (!isGround && --left < 0) return false;
  }
  return true;
}

async function decodePixels(bytes: Uint8Array, recipe: DecodePlan): Promise<Pixels> {
  try {
    if (recipe.type === 'heic') return await decodeHeic(bytes, recipe);
    if (recipe.type === 'bmp') {
      const { data, ...size } = decodeBmp(bytes);
      return await decodeOnce(data, recipe, 'truncated', { ...size, channels: 3 });
    }
    return await (recipe.type === 'jpeg' ? decodeJpeg(bytes, recipe) : decodeOnce(bytes, recipe, 'truncated'));
  } catch (error) {
    throw undecodableError(recipe.type, error);
  }
}

async function decodeHeic(bytes: Uint8Array, recipe: DecodePlan): Promise<Pixels> {
  const { header, limits } = recipe;
  const decoder = findHeicDecoder();
  if (decoder === undefined) throw new Error(`${HEIC_PACKAGE} is gone`);
  return decodeOnce(await heicToTiff(bytes, decoder, header.icc, limits), recipe, 'truncated');
}

/**
 * The JPEG decoder fills missing pixels with grey and only warns if the file has an end marker. It also calls a file
 * truncated if only the end marker is missing. So it is configured to fail at any warning, and harmless warnings are
 * then ignored.
 */
async function decodeJpeg(bytes: Uint8Array, recipe: DecodePlan): Promise<Pixels> {
  try {
    return await decodeOnce(bytes, recipe, 'warning');
  } catch (error) {
    const reason = (error as Error).message;
    if (reason.includes('premature end of data segment') || reason.startsWith('timeout')) throw error;
    if (!reason.includes('premature end of JPEG image')) return decodeOnce(bytes, recipe, 'truncated');
    return decodeOnce(Buffer.concat([bytes, Buffer.from([0xff, 0xd9])]), recipe, 'warning');
  }
}

/** @param raw describes bytes that are already pixels */
async function decodeOnce(bytes: Uint8Array, recipe: DecodePlan, failOn: Strictness, raw?: CreateRaw): Promise<Pixels> {
  const { header, page, target, limits, ground } = recipe;
  const profiled = header.icc !== undefined && !isSrgbProfile(header.icc);
  const image = configuredSharp()(bytes, {
    limitInputPixels: Number.isFinite(limits.pixels) ? limits.pixels : false,
    page,
    failOn,
    sequentialRead: true,
    ignoreIcc: !profiled,
    autoOrient: true,
    ...(raw ? { raw } : {}),
  });
  if (target) image.resize({ ...target, fit: 'fill', kernel: 'cubic' });
  image.flatten({ background: ground }).toColourspace('srgb');
  // sharp converts 16-bit pixels with a profile to Display P3, unless another profile is requested.
  if (profiled && header.depth === 'ushort') image.withIccProfile('srgb');
  const { data, info } = await image
    .timeout({ seconds: Math.ceil(limits.decodeMilliseconds / 1000) })
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== 3) throw new Error(`${info.channels} channels`);
  return { width: info.width, height: info.height, data };
}

const NAMES: Record<EncodedType, string> = {
  jpeg: 'JPEG',
  png: 'PNG',
  gif: 'GIF',
  webp: 'WebP',
  avif: 'AVIF',
  tiff: 'TIFF',
  bmp: 'BMP',
  heic: 'HEIC',
};

/** libvips has technical messages; users get akin's message, with the original as the cause. */
function undecodableError(type: EncodedType, cause?: unknown): AkinError {
  const reason = cause instanceof Error ? cause.message : '';
  const name = NAMES[type];
  let message = `The file begins like a ${name} image but cannot be decoded: it is damaged or something else. Open and save it again in an image editor.`;
  if (/^timeout|: timeout:/.test(reason)) {
    message = `Decoding the ${name} image took too long. Send a smaller version.`;
  } else if (/^it is compressed/.test(reason)) {
    message = `The ${name} image is compressed, which is not read. Save it as PNG and send that.`;
  } else if (/premature end|truncated|end of (file|stream|data)|read error|not enough data|eof/i.test(reason)) {
    message = `The ${name} image ends too early or is damaged: part of the picture is missing. Send the whole file.`;
  }
  return new AkinError('image-undecodable', message, cause === undefined ? {} : { cause });
}

function megapixels(pixels: number, digits = 2): number {
  return Number((pixels / 1_000_000).toFixed(digits));
}
