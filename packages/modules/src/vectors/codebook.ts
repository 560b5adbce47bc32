import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Calibration } from '@akin/domain';
import { MODULES } from '../manifests.ts';
import { readSafetensors, type Tensors } from '../weights/safetensors.ts';

/**
 * Converts a module's descriptor to codes, and distances to scores. `npm run train-codebooks` trains it on a folder of
 * pictures. Descriptors do not depend on it.
 */
export interface Codebook {
  /** The first 4 bytes of the hash of its numbers. Codes with this id do not need to be computed again. */
  readonly id: Uint8Array;
  /** The model of the training descriptors; descriptors of other models are rejected. */
  readonly model: string;
  readonly dimensions: number;
  /** Coarse centroids, `cellCount` rows of `dimensions`. */
  readonly cellCount: number;
  readonly cells: Float32Array;
  /** The rotation of each cell. Adjacent cells share one: 256 separate rotations would take 33 MB. */
  readonly rotationOfCell: Float32Array;
  /** Orthogonal matrices, row by row. They rotate a residual so that its subspaces have similar variance. */
  readonly rotations: Float32Array;
  /** `subspaces` tables of 256 codewords of `dimensions / subspaces` numbers. */
  readonly subspaces: number;
  readonly quantizers: Float32Array;
  /** 64 hyperplanes and their offsets: the bits of the signature. */
  readonly planes: Float32Array;
  readonly offsets: Float32Array;
  readonly calibration: Calibration;
  /** Calibration for a text and a picture, if the model has a text encoder. */
  readonly textCalibration?: Calibration;
  /** What people call the model: the name of its folder. Undefined for akin's own. */
  readonly name?: string;
  /** Which output of a model in the layout of Hugging Face is the vector. */
  readonly vector?: 'projected' | 'pooled' | 'CLS';
}

/** Bits of the signature. */
export const SIGNATURE_BITS = 64;
/** Codewords a subspace: one byte each. */
export const CODEWORDS = 256;

const CODEBOOK_FOLDER = new URL('../../codebooks/', import.meta.url);
/** The codebooks of this process or thread, unless a call names another one. */
const activeCodebooks = new Map<string, Codebook>();
const shipped = new Map<string, Codebook>();

/** The codebook of a module in this process or thread: the shipped one, or that of {@link useCodebook}. */
export function codebookOf(module: string): Codebook {
  const known = activeCodebooks.get(module);
  if (known !== undefined) return known;
  const codebook = shippedCodebook(module);
  activeCodebooks.set(module, codebook);
  return codebook;
}

/** The codebook that ships with akin, for its own analysis; read at the first use (some 10 ms, once). */
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
 * Replaces the shipped codebook in this process or thread. @throws Error when another codebook of the module was
 * already used
 */
export function useCodebook(module: string, codebook: Codebook): void {
  const known = activeCodebooks.get(module);
  if (known !== undefined && !(known.model === codebook.model && Buffer.from(known.id).equals(codebook.id))) {
    throw new Error(`The codebook of ${module} is in use already, for the model ${known.model}.`);
  }
  activeCodebooks.set(module, codebook);
}

export function codebookFile(module: string): URL {
  return new URL(`${module}.safetensors`, CODEBOOK_FOLDER);
}

/** The descriptor of a module in use. @throws Error for a module without one */
export function descriptorOf(module: string): { output: string; cell: string; dimensions: number } {
  const descriptor = manifestDescriptor(module);
  // A user's model may have another number of dimensions than akin's own.
  return { ...descriptor, dimensions: activeCodebooks.get(module)?.dimensions ?? descriptor.dimensions };
}

/** The descriptor of a module as in the registry. @throws Error for a module without one */
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

/** The hash of all bytes after the header of a safetensors file. */
export function hashNumbers(bytes: Uint8Array): Buffer {
  const headerLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return createHash('sha256')
    .update(bytes.subarray(8 + headerLength))
    .digest();
}
