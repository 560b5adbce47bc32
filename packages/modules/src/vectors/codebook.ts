import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Calibration } from '@akin/domain';
import { MODULES } from '../manifests.ts';
import { readSafetensors, type Tensors } from '../safetensors.ts';

/**
 * What turns a module's descriptor into its codes and its distances into scores; trained on a folder of pictures by
 * `npm run train-codebooks`. A descriptor never depends on it.
 */
export interface Codebook {
  /** The first 4 bytes of the hash of its numbers: codes with this mark in them need not be made again. */
  readonly id: Uint8Array;
  /** The model whose descriptors it was trained on, the only one whose descriptors are taken. */
  readonly model: string;
  readonly dimensions: number;
  /** Coarse centroids, `cellCount` rows of `dimensions`. */
  readonly cellCount: number;
  readonly cells: Float32Array;
  /** Which rotation belongs to each cell. Neighbouring cells share one: 256 of their own would weigh 33 MB. */
  readonly rotationOfCell: Float32Array;
  /** Orthogonal matrices, row by row, that turn a residual so that its subspaces are of like weight. */
  readonly rotations: Float32Array;
  /** `subspaces` tables of 256 codewords of `dimensions / subspaces` numbers. */
  readonly subspaces: number;
  readonly quantizers: Float32Array;
  /** 64 hyperplanes and their offsets: the bits of the signature. */
  readonly planes: Float32Array;
  readonly offsets: Float32Array;
  readonly calibration: Calibration;
  /** Of a text and a picture, where the model knows words. */
  readonly wordsCalibration?: Calibration;
  /** What of the output of a model in the layout of Hugging Face is its vector. */
  readonly vector?: 'projected' | 'pooled' | 'CLS';
}

/** Bits of the signature. */
export const SIGNATURE_BITS = 64;
/** Codewords a subspace: one byte each. */
export const CODEWORDS = 256;

const CODEBOOK_FOLDER = new URL('../../codebooks/', import.meta.url);
/** Those that this process or thread uses where nothing else is said. */
const inUse = new Map<string, Codebook>();
const shipped = new Map<string, Codebook>();

/** The codebook of a module that this process or thread uses: the shipped one, or that of {@link useCodebook}. */
export function codebookOf(module: string): Codebook {
  const known = inUse.get(module);
  if (known !== undefined) return known;
  const codebook = shippedCodebook(module);
  inUse.set(module, codebook);
  return codebook;
}

/** The codebook that akin brings along for its own analysis, read on first use (some 10 ms, once). */
export function shippedCodebook(module: string): Codebook {
  const known = shipped.get(module);
  if (known !== undefined) return known;
  const { dimensions } = manifestDescriptor(module);
  const file = codebookFile(module);
  const codebook = readCodebook(readFileSync(file), dimensions, file.pathname.split('/').slice(-2).join('/'));
  shipped.set(module, codebook);
  return codebook;
}

/**
 * Takes a codebook instead of the shipped one, in this process or thread. Throws an Error when outputs of the module were
 * compared or written by another one before.
 */
export function useCodebook(module: string, codebook: Codebook): void {
  const known = inUse.get(module);
  if (known !== undefined && !(known.model === codebook.model && Buffer.from(known.id).equals(codebook.id))) {
    throw new Error(`The codebook of ${module} is in use already, for the model ${known.model}.`);
  }
  inUse.set(module, codebook);
}

export function codebookFile(module: string): URL {
  return new URL(`${module}.safetensors`, CODEBOOK_FOLDER);
}

/** What is known of the descriptor of a module in use. Throws an Error for a module without one. */
export function descriptorOf(module: string): { output: string; cell: string; dimensions: number } {
  const descriptor = manifestDescriptor(module);
  // A model of the user's may give more or fewer numbers than akin's own.
  return { ...descriptor, dimensions: inUse.get(module)?.dimensions ?? descriptor.dimensions };
}

/** What the registry says about the descriptor of a module. Throws an Error for a module without one. */
export function manifestDescriptor(module: string): { output: string; cell: string; dimensions: number } {
  const descriptor = MODULES.find(({ name }) => name === module)?.descriptor;
  if (descriptor === undefined) throw new Error(`There is no module ${JSON.stringify(module)} with a descriptor.`);
  return descriptor;
}

/** Reads a codebook and checks the hash of its numbers. */
export function readCodebook(bytes: Uint8Array, dimensions: number, label: string): Codebook {
  const tensors = readSafetensors(bytes, label);
  const { model, sha256, calibration, cells, rotations, subspaces } = tensors.metadata;
  if (!model || !sha256 || !calibration) throw new Error(`${label} is not a codebook.`);
  const seen = hashNumbers(bytes);
  if (seen.toString('hex') !== sha256)
    throw new Error(`${label} is damaged: its numbers do not have the hash it names.`);
  return {
    id: seen.subarray(0, 4),
    model,
    dimensions,
    calibration: JSON.parse(calibration),
    ...readTables(tensors, dimensions, Number(cells), Number(rotations), Number(subspaces)),
  };
}

function readTables(tensors: Tensors, dimensions: number, cells: number, rotations: number, subspaces: number) {
  return {
    cellCount: cells,
    subspaces,
    cells: tensors.get('cells', [cells, dimensions]),
    rotationOfCell: tensors.get('rotation_of_cell', [cells]),
    rotations: tensors.get('rotations', [rotations, dimensions, dimensions]),
    quantizers: tensors.get('quantizers', [subspaces, CODEWORDS, dimensions / subspaces]),
    planes: tensors.get('planes', [SIGNATURE_BITS, dimensions]),
    offsets: tensors.get('offsets', [SIGNATURE_BITS]),
  };
}

/** The hash of all that follows the header of a safetensors file. */
export function hashNumbers(bytes: Uint8Array): Buffer {
  const headerLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return createHash('sha256')
    .update(bytes.subarray(8 + headerLength))
    .digest();
}
