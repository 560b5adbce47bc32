import { type AkinError, badRequest, readHalves, writeHalves } from '@akin/domain';
import { decodeBase64 } from './base64.ts';
import { type Codebook, codebookOf, descriptorOf } from './codebook.ts';
import { length } from './unit.ts';

/**
 * A descriptor as text: base64 of one byte of format, one byte of name length, the name (`akin-4:74d3b08d/content`:
 * model, hash of its weights, module) and the vector as little-endian half-precision numbers.
 */
const FORMAT = 1;
/** Rounding to half precision changes the length of a unit vector by less than 0.001. */
const LENGTH_TOLERANCE = 0.005;

/** The first bytes of a descriptor, by module, then by model. */
const headers = new Map<string, Map<string, Buffer>>();

function headerOf(module: string, model: string): Buffer {
  const ofModule = headers.get(module) ?? new Map<string, Buffer>();
  const known = ofModule.get(model);
  if (known !== undefined) return known;
  const name = Buffer.from(`${model}/${module}`, 'latin1');
  const header = Buffer.concat([Buffer.from([FORMAT, name.length]), name]);
  headers.set(module, ofModule.set(model, header));
  return header;
}

/** Writes the text of a descriptor. @param halves its numbers as little-endian halves @param model what made it */
export function descriptorText(halves: Uint8Array, module: string, model: string): string {
  return Buffer.concat([headerOf(module, model), halves]).toString('base64');
}

/** Encodes a unit vector as text; its numbers are rounded to half precision. */
export function encodeDescriptor(vector: ArrayLike<number>, module: string): string {
  const { dimensions } = descriptorOf(module);
  if (vector.length !== dimensions) {
    throw new Error(`A ${module} descriptor has ${dimensions} numbers, not ${vector.length}.`);
  }
  const halves = new Uint8Array(dimensions * 2);
  writeHalves(vector, halves, 0);
  return descriptorText(halves, module, codebookOf(module).model);
}

/**
 * Decodes a descriptor: a unit vector, except for the rounding to half precision.
 *
 * @param codebook Of the model that must have computed it. Default: the model in use.
 * @throws {AkinError} bad-request when the text is not a descriptor of this module and model; the message names both
 * models.
 */
export function decodeDescriptor(
  text: string,
  module: string,
  codebook: Pick<Codebook, 'model' | 'dimensions'> = codebookOf(module),
): Float32Array {
  return readUnit(descriptorHalves(text, module, codebook), module);
}

/**
 * The numbers of a descriptor's text as little-endian halves, not checked yet.
 *
 * @param codebook Of the model that must have made it.
 * @throws {AkinError} bad-request when the text is not a descriptor of this module and model; it names both models.
 */
export function descriptorHalves(
  text: string,
  module: string,
  { model, dimensions }: Pick<Codebook, 'model' | 'dimensions'>,
): Uint8Array {
  const { output } = descriptorOf(module);
  const header = headerOf(module, model);
  const bytes = decodeBase64(text, output, MAX_BYTES);
  if (bytes.compare(header, 0, header.length, 0, Math.min(header.length, bytes.length)) !== 0)
    throw otherModelError(bytes, module, model);
  if (bytes.length !== header.length + dimensions * 2) {
    throw refuse(output, `does not hold ${dimensions} numbers in half precision; it was cut off or changed on its way`);
  }
  return bytes.subarray(header.length);
}

/**
 * Reads halves of {@link descriptorHalves}.
 *
 * @param into Gets the numbers; a new vector when not given.
 * @throws {AkinError} bad-request when they are no vector of length 1.
 */
export function readUnit(halves: Uint8Array, module: string, into?: Float32Array): Float32Array {
  const vector = readHalves(halves, 0, halves.length / 2, into);
  if (Math.abs(length(vector) - 1) < LENGTH_TOLERANCE) return vector;
  throw refuse(descriptorOf(module).output, 'is not a vector of length 1');
}

/** More than any current descriptor has: longer texts are rejected before they are decoded. */
const MAX_BYTES = 16384;

function otherModelError(bytes: Buffer, module: string, own: string): AkinError {
  const { output } = descriptorOf(module);
  const nameLength = bytes[1] ?? 0;
  const name = bytes.subarray(2, 2 + nameLength).toString('latin1');
  if (bytes[0] !== FORMAT || !/^[\w.:-]+\/\w+$/.test(name)) {
    return refuse(output, 'is not a descriptor that this version of akin reads');
  }
  const [model, theirs] = name.split('/') as [string, string];
  if (theirs !== module) return refuse(output, `is a descriptor of the module ${theirs}`);
  return refuse(output, `was made by the model ${model}, but akin uses ${own}; they cannot be mixed`);
}

function refuse(output: string, why: string): AkinError {
  return badRequest(`${output} ${why}. Analyze the picture again and send the new outputs.`);
}
