import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { AkinError } from '@akin/domain';
import { untrainedCodebook } from '../model-folder/codebook.ts';
import { isModelFolder, readModelFolder } from '../model-folder/files.ts';
import { requireRegularFile } from '../model-folder/require-regular-file.ts';
import { type Codebook, codebookOf, manifestDescriptor, readCodebook, useCodebook } from '../vectors/codebook.ts';
import { type ContentModelManifest, MANIFEST_FILE, readManifest } from './manifest.ts';

/** Files that training writes into the folder of a model: its codebook, and the axes of its descriptors. */
export const CODEBOOK_FILE = 'content.safetensors';
export const AXES_FILE = 'axes.safetensors';

/** A model of TensorFlow.js as its files. */
export interface ModelFiles {
  readonly manifest: ContentModelManifest;
  /** The model's own JSON. */
  readonly topology: ModelJson;
  /** All weights, one after another. */
  readonly weights: Uint8Array<ArrayBuffer>;
  /** Hash of everything that determines the vectors, except the axes. */
  readonly hash: string;
}

interface ModelJson {
  readonly format?: string;
  readonly modelTopology: object;
  readonly weightsManifest: readonly WeightsGroup[];
}

interface WeightsGroup {
  /** Files in the folder of the model, or below it. */
  readonly paths: readonly string[];
  readonly weights: readonly object[];
}

/** @throws {AkinError} bad-request that names the file that is missing or invalid. */
export async function readModelFiles(folder: string): Promise<ModelFiles> {
  const manifest = readManifest(folder);
  const text = await readPart(folder, manifest.model);
  let topology: ModelJson;
  try {
    topology = JSON.parse(text.toString('utf8'));
  } catch {
    throw new AkinError('bad-request', `${join(folder, manifest.model)} is not JSON.`);
  }
  if (!topology?.modelTopology || !Array.isArray(topology.weightsManifest)) {
    throw new AkinError('bad-request', `${join(folder, manifest.model)} is not a model of TensorFlow.js.`);
  }
  if (!topology.weightsManifest.every(isWeightsGroup)) {
    throw new AkinError(
      'bad-request',
      `${join(folder, manifest.model)} has a "weightsManifest" that does not name weights and files in this folder.`,
    );
  }
  const paths = topology.weightsManifest.flatMap((group) => group.paths);
  const shards = await Promise.all(paths.map((path) => readPart(folder, path)));
  const hash = createHash('sha256');
  for (const part of [await readPart(folder, MANIFEST_FILE), text, ...shards]) hash.update(part);
  return { manifest, topology, weights: new Uint8Array(Buffer.concat(shards)), hash: hash.digest('hex') };
}

function isWeightsGroup(group: Partial<WeightsGroup> | null): boolean {
  return Array.isArray(group?.weights) && Array.isArray(group.paths) && group.paths.every(isBelow);
}

/** True if a relative path stays inside its folder. */
function isBelow(path: unknown): boolean {
  return typeof path === 'string' && !isAbsolute(path) && !path.split(/[\\/]/).includes('..');
}

/** The model name in descriptors: name, version, and a hash of everything that determines them. */
export function modelId({ manifest, hash }: ModelFiles, axes: Uint8Array): string {
  const both = createHash('sha256').update(hash).update(axes).digest('hex');
  return `${manifest.name}-${manifest.version}:${both.slice(0, 8)}`;
}

/**
 * Makes a model the content model of this process or thread. Call it before outputs are read, compared or written. For
 * a trained model it reads the codebook. For a model in the layout of Hugging Face, it
 * reads the configuration, and the weights to compute their hash.
 *
 * @throws {AkinError} bad-request when the folder contains neither a trained model nor one of a supported kind, or its
 * codebook is damaged; the message says what is wrong, or how to train it.
 */
export function useContentModel(folder: string): void {
  useCodebook('content', contentCodebook(folder));
}

/** The codebook of a content model in the layout of Hugging Face, or trained by akin. */
export function contentCodebook(folder: string): Codebook {
  if (isModelFolder(folder)) return untrainedCodebook(readModelFolder(folder));
  return readTrained(folder);
}

/**
 * The codebook of the trained model. It contains the model's name.
 *
 * @throws {AkinError} as {@link useContentModel} does.
 */
export function readTrained(folder: string): Codebook {
  readManifest(folder);
  const file = join(folder, CODEBOOK_FILE);
  requireRegularFile(file);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch {
    throw untrainedError(folder);
  }
  try {
    return readCodebook(bytes, manifestDescriptor('content').dimensions, file);
  } catch (cause) {
    throw damagedFileError(folder, CODEBOOK_FILE, cause);
  }
}

export function untrainedError(folder: string): AkinError {
  return new AkinError('bad-request', `The model in ${folder} is not trained yet. Run: ${trainingOf(folder)}`);
}

/** The error for an unusable file that training wrote into the folder. */
export function damagedFileError(folder: string, name: string, cause: unknown): AkinError {
  const message = `${join(folder, name)} is damaged. Train the model again: ${trainingOf(folder)}`;
  return new AkinError('bad-request', message, { cause });
}

function trainingOf(folder: string): string {
  return `akin train <folder of your pictures> --content-model ${folder}`;
}

async function readPart(folder: string, name: string): Promise<Buffer> {
  requireRegularFile(join(folder, name));
  try {
    return await readFile(join(folder, name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new AkinError('bad-request', `${join(folder, name)} cannot be read (${code}).`);
  }
}

/** The error for a model that cannot compare words with pictures; its message says what to do. */
export function noTextEncoder(model = codebookOf('content').model): AkinError {
  return new AkinError(
    'bad-request',
    `The content model ${model} cannot find pictures by words: it has no text encoder. Move the collection to one that does, such as siglip-base-patch16-224: akin models pull siglip-base-patch16-224, then akin reindex --content-model siglip-base-patch16-224 (docs/content-models.md).`,
  );
}
