import {
  AkinError,
  type FieldValue,
  isJsonArray,
  JsonNumber,
  JsonObject,
  type JsonValue,
  type ModuleManifest,
  type OutputField,
  parseJson,
  parseLong,
} from '@akin/domain';
import { MODULES } from '../manifests.ts';
import { decodeBase64 } from './base64.ts';
import { type Codebook, codebookOf } from './codebook.ts';
import { areCodesOf, encodeCodes, isCurrentLopq, NEAREST_CELLS } from './codes.ts';
import { decodeDescriptor } from './descriptor.ts';

/** The outputs of an analysis as values. */
export interface Outputs {
  /** By output name. Absent outputs are absent here; codes are always those of the current codebook. */
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** By module name: the vector that ranking uses, and the index of the coarse centroid that it is nearest to. */
  readonly descriptors: ReadonlyMap<string, { readonly vector: Float32Array; readonly cell: number }>;
}

/** Some thirty times what the four modules write. */
const MAX_CHARACTERS = 100_000;
const MAX_ELEMENTS = 100;
const MAX_STRING = 10_000;

/**
 * Reads outputs that were sent back, as `import` of a document or as `rank.by.outputs`. The outputs of some modules may
 * be missing; keys that no module has are ignored. Only the descriptor is believed: codes that another codebook made,
 * that are missing or that cannot be those of the descriptor are made again from it.
 *
 * @param json The text of `outputs` as an analysis gave it.
 * @throws {AkinError} bad-request that names the key and what is wrong, or both models when they differ.
 */
export function parseOutputs(json: string): Outputs {
  if (json.length > MAX_CHARACTERS) {
    throw refuse(`The outputs of an analysis have at most ${MAX_CHARACTERS} characters, these ${json.length}.`);
  }
  const value = parseJson(json, { depth: 4 });
  if (!(value instanceof JsonObject)) throw refuse('The outputs of an analysis are a JSON object.');
  const sent = new Map(value.entries);
  const fields = new Map<string, FieldValue>();
  const descriptors = new Map<string, { vector: Float32Array; cell: number }>();
  for (const manifest of MODULES) {
    for (const output of manifest.outputs) {
      const outputValue = sent.get(output.name);
      if (outputValue !== undefined && outputValue !== null) fields.set(output.name, readOutput(output, outputValue));
    }
    const descriptor = readDescriptor(manifest, fields);
    if (descriptor) descriptors.set(manifest.name, descriptor);
  }
  if (fields.size === 0 && sent.has('outputs')) {
    throw refuse('This is a whole answer of /analyze. Send the text in its "outputs" alone.');
  }
  return { fields, descriptors };
}

/** Decodes the descriptor, and settles its codes in `fields`. */
function readDescriptor(
  manifest: ModuleManifest,
  fields: Map<string, FieldValue>,
): { vector: Float32Array; cell: number } | undefined {
  const { name, descriptor } = manifest;
  if (descriptor === undefined) return undefined;
  const text = fields.get(descriptor.output) as string | undefined;
  const keys = codeKeys(name);
  if (text === undefined) {
    const orphan = Object.values(keys).find((key) => fields.has(key));
    if (orphan === undefined) return undefined;
    throw refuse(`${orphan} came without ${descriptor.output}, from which it is made. Send both, or neither.`);
  }
  const vector = decodeDescriptor(text, name);
  const codebook = codebookOf(name);
  let cell = currentCell(codebook, keys, fields, vector);
  if (cell === undefined) {
    const codes = encodeCodes(codebook, vector);
    cell = codes.cluster;
    fields.set(keys.cluster, BigInt(cell));
    fields.set(keys.nclusters, codes.nclusters);
    fields.set(keys.lopq, codes.lopq);
    fields.set(keys.rerank, codes.rerank);
  }
  return { vector, cell };
}

/** The cell, if the codes that came along are complete, of this codebook and of this descriptor. */
function currentCell(
  codebook: Codebook,
  keys: ReturnType<typeof codeKeys>,
  fields: ReadonlyMap<string, FieldValue>,
  vector: Float32Array,
): number | undefined {
  const lopq = fields.get(keys.lopq) as string | undefined;
  const nclusters = fields.get(keys.nclusters) as string | undefined;
  const cluster = fields.get(keys.cluster) as bigint | undefined;
  const rerank = fields.get(keys.rerank) as bigint | undefined;
  // Decoded in any case, so that what is stored is base64 whatever its codebook.
  const lopqBytes = lopq === undefined ? undefined : decodeBase64(lopq, keys.lopq, MAX_STRING);
  const bytes = nclusters === undefined ? undefined : decodeBase64(nclusters, keys.nclusters, MAX_STRING);
  if (lopqBytes === undefined || bytes === undefined || rerank === undefined) return undefined;
  if (!isCurrentLopq(codebook, lopqBytes) || bytes.length !== NEAREST_CELLS * 2) return undefined;
  const cells = Array.from({ length: NEAREST_CELLS }, (_, i) => bytes.readUInt16LE(i * 2));
  const [cell] = cells;
  if (cell === undefined || cluster !== BigInt(cell) || cells.some((one) => one >= codebook.cellCount))
    return undefined;
  return areCodesOf(codebook, vector, cells, rerank) ? cell : undefined;
}

function codeKeys(module: string) {
  return {
    cluster: `${module}_cluster`,
    nclusters: `${module}_nclusters`,
    lopq: `${module}_lopq`,
    rerank: `${module}_rerank`,
  };
}

/** A value as the type of its output, or an error that names it. */
function readOutput(output: OutputField, value: JsonValue): FieldValue {
  const { name, type } = output;
  switch (type) {
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw refuse(`${name} must be true or false.`);
    case 'long':
      return readLong(output, value);
    case 'double':
      return readDouble(output, value);
    case 'string':
      return readString(output, value);
    case 'strings':
      return readArray(name, value).map((element) => readString(output, element));
    case 'longs':
      return readArray(name, value).map((element) => readLong(output, element));
    case 'doubles':
      return readArray(name, value).map((element) => readDouble(output, element));
    case 'date':
    case 'location':
    case 'text':
      throw new Error(`No module writes outputs of type ${type}.`);
  }
}

function readArray(name: string, value: JsonValue): readonly JsonValue[] {
  if (!isJsonArray(value)) throw refuse(`${name} must be an array.`);
  if (value.length > MAX_ELEMENTS) throw refuse(`${name} has ${value.length} elements; at most ${MAX_ELEMENTS} fit.`);
  return value;
}

function readLong({ name, range }: OutputField, value: JsonValue): bigint {
  const long = value instanceof JsonNumber ? parseLong(value.text) : null;
  if (long === null) throw refuse(`${name} must hold whole numbers of 64 bits.`);
  if (range && (long < range[0] || long > range[1])) throw refuse(`${name} must lie in ${range[0]} to ${range[1]}.`);
  return long;
}

function readDouble({ name, range }: OutputField, value: JsonValue): number {
  const double = value instanceof JsonNumber ? Number(value.text) : Number.NaN;
  if (!Number.isFinite(double)) throw refuse(`${name} must hold numbers.`);
  if (range && (double < range[0] || double > range[1]))
    throw refuse(`${name} must lie in ${range[0]} to ${range[1]}.`);
  return double;
}

function readString({ name, pattern }: OutputField, value: JsonValue): string {
  if (typeof value !== 'string') throw refuse(`${name} must hold text.`);
  if (value.length > MAX_STRING) throw refuse(`${name} holds a text of ${value.length} characters.`);
  if (pattern && !new RegExp(`^(?:${pattern})$`).test(value)) {
    throw refuse(`${name} holds ${JSON.stringify(value.slice(0, 40))}, which no analysis gives.`);
  }
  // What a database cannot hold.
  if (/[\0\p{Surrogate}]/u.test(value)) throw refuse(`${name} holds characters that are no text.`);
  return value;
}

function refuse(message: string): AkinError {
  return new AkinError('bad-request', message);
}
