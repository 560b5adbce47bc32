import { type Region, stringifyJson } from '@akin/domain';
import {
  decodeImage,
  type FileContext,
  type ImageLimits,
  makeThumbnailFromPixels,
  type PictureFacts,
  readPictureFacts,
} from '@akin/imaging';
import { MODULES, parseModulesApply } from '../manifests.ts';
import type { Module } from '../module.ts';
import type { Backend } from '../network/backend.ts';
import { type OpenNetwork, preparePicture } from '../picture/picture.ts';
import { memoizeAsync } from '../weights/memoize-async.ts';
import { loadModule } from './load-module.ts';
import { writeOutputs } from './write-outputs.ts';

export interface AnalyzeOptions {
  readonly modules?: readonly string[];
  /** Also make a WebP thumbnail of at most 256 px. */
  readonly thumbnail?: boolean;
  readonly facts?: FileContext | undefined;
  readonly region?: Region | undefined;
  /** Find more points than are stored, for a search for parts. */
  readonly soughtPoints?: boolean | undefined;
  readonly limits?: Partial<ImageLimits>;
  /**
   * Default: `wasm`. All calls in one thread must use the same backend, because TensorFlow.js has one for all networks.
   */
  readonly backend?: Backend;
  /**
   * Folder of another model for the module content, in the layout of Hugging Face. A thread uses only one such model.
   */
  readonly contentModel?: string;
  /** The model name that outputs must contain. Default: the name of the model in the folder. */
  readonly contentModelName?: string;
}

export interface Analysis {
  /** JSON text: the value of `outputs` in a response of /analyze, and of `import` in a document. */
  readonly outputs: string;
  /** Natural size in pixels, upright: of the region if one was asked for. */
  readonly width: number;
  readonly height: number;
  readonly thumbnail?: Uint8Array;
  readonly facts?: PictureFacts;
  /**
   * Milliseconds of each part: `decode`, and each module by name. Work that modules share counts for the first one that
   * needs it.
   */
  readonly times: Readonly<Record<string, number>>;
}

/**
 * Minimum length of the short side of pictures that are reduced while decoding. It is the same for all requests, so
 * that a module's outputs do not depend on which other modules run. It is enough for a thumbnail.
 */
export const MIN_SIDE = 256;

/**
 * Analyzes one image in the calling thread and blocks it for some 30 ms: services call `createAnalyzer`, scripts may
 * call this. Equal bytes give equal outputs.
 *
 * @param bytes A JPEG, PNG, GIF, WebP, AVIF, TIFF or BMP file.
 * @throws {AkinError} as decodeImage does; bad-request for a module that does not exist.
 */
export async function analyzeImage(bytes: Uint8Array, options: AnalyzeOptions = {}): Promise<Analysis> {
  const modules = options.modules?.length === 0 ? [] : parseModulesApply(options.modules?.join());
  const times: Record<string, number> = {};
  let began = performance.now();
  const ended = (part: string) => {
    const now = performance.now();
    times[part] = now - began;
    began = now;
  };
  const decode = (minSide: number) =>
    decodeImage(bytes, { minSide, region: options.region, ...(options.limits && { limits: options.limits }) });
  const { width, height, pixels } = await decode(MIN_SIDE);
  ended('decode');
  const pixelsOf = async (side: number) => {
    const isLarge = pixels.width === width || Math.min(pixels.width, pixels.height) >= side;
    return isLarge ? pixels : (await decode(side)).pixels;
  };
  const prepared = preparePicture(pixels, sharedNetworks(options.backend ?? 'wasm'), pixelsOf);
  const picture = { ...prepared, isSought: options.soughtPoints === true };
  const outputs = new Map<string, unknown>();
  for (const manifest of MODULES) {
    if (!modules.includes(manifest.name)) continue;
    const analyze = await analysisOf(manifest.name, options);
    for (const [key, value] of writeOutputs(manifest, await analyze(picture))) outputs.set(key, value);
    ended(manifest.name);
  }
  return {
    outputs: stringifyJson(outputs),
    width,
    height,
    times,
    ...(options.thumbnail && { thumbnail: await makeThumbnailFromPixels(pixels) }),
    ...(options.facts && { facts: await readPictureFacts(bytes, options.facts) }),
  };
}

async function analysisOf(name: string, options: AnalyzeOptions): Promise<Module['analyze']> {
  const { contentModel, contentModelName } = options;
  if (name !== 'content' || contentModel === undefined) return (await loadModule(name)).analyze;
  return ownContent(contentModel, contentModelName ?? '');
}

/** The networks of this thread. TensorFlow.js is loaded only when a module needs a network. */
export function sharedNetworks(backend: Backend): OpenNetwork {
  return (folder) => shared(folder.href, backend);
}

const shared = memoizeAsync(async (folder: string, backend: Backend) => {
  const { readModel } = await import('../network/model.ts');
  const { openNetwork } = await import('../network/network.ts');
  return openNetwork(await readModel(new URL(folder)), backend);
});
const ownContent = memoizeAsync(async (folder: string, name: string) => {
  const { openFolderContent } = await import('../model-folder/content.ts');
  return openFolderContent(folder, name);
});
