import { createHash } from 'node:crypto';
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
  unstorable,
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
  /**
   * Given when the codes in the text are those of the current codebooks. A caller that keeps the text and the mark may pass
   * both to `parseOutputs` again, which then need not check the codes a second time.
   */
  readonly mark?: string;
}

/** The codebook of each module with a descriptor: what outputs are read by. */
export type Codebooks = (module: string) => Codebook;

/** The same in all processes that read outputs alike: of the same modules, models and codebooks. */
const marks = new Map<Codebooks, string>();

function markOf(codebookOf: Codebooks): string {
  let mark = marks.get(codebookOf);
  if (mark === undefined) {
    const codebooks = MODULES.filter(({ descriptor }) => descriptor).map(({ name }) => codebookOf(name));
    const rule = [MARK_FORMAT, MODULES, codebooks.map(({ model, id }) => [model, [...id]])];
    mark = createHash('sha256').update(JSON.stringify(rule)).digest('hex').slice(0, 16);
    marks.set(codebookOf, mark);
  }
  return mark;
}

/** To be counted up when the checks change: texts that were marked before are checked again. */
const MARK_FORMAT = 1;

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
 * @param mark What this function gave with the very same text, if it was kept; of other codebooks it changes nothing.
 * @throws {AkinError} bad-request that names the key and what is wrong, or both models when they differ.
 */
export function parseOutputs(json: string, mark?: string): Outputs {
  return readOutputs(json, mark, codebookOf);
}

/** The same by other codebooks than those in use. */
export function readOutputs(json: string, mark: string | undefined, codebookOf: Codebooks): Outputs {
  if (json.length > MAX_CHARACTERS) {
    throw refuse(`The outputs of an analysis have at most ${MAX_CHARACTERS} characters, these ${json.length}.`);
  }
  const value = parseJson(json, { depth: 4 });
  if (!(value instanceof JsonObject)) throw refuse('The outputs of an analysis are a JSON object.');
  const sent = new Map(value.entries);
  const fields = new Map<string, FieldValue>();
  const descriptors = new Map<string, { vector: Float32Array; cell: number }>();
  const today = markOf(codebookOf);
  let remade = false;
  for (const manifest of MODULES) {
    for (const output of manifest.outputs) {
      const outputValue = sent.get(output.name);
      if (outputValue !== undefined && outputValue !== null) fields.set(output.name, readOutput(output, outputValue));
    }
    const { name } = manifest;
    const vector = readVector(manifest, fields, codebookOf);
    if (vector === undefined) continue;
    const keys = codeKeys(name);
    let cell = mark === today ? Number(fields.get(keys.cluster)) : currentCell(codebookOf(name), keys, fields, vector);
    if (cell === undefined) {
      cell = remakeCodes(codebookOf(name), keys, fields, vector);
      remade = true;
    }
    descriptors.set(name, { vector, cell });
  }
  if (fields.size === 0 && sent.has('outputs')) {
    throw refuse('This is a whole answer of /analyze. Send the text in its "outputs" alone.');
  }
  return { fields, descriptors, ...(remade ? {} : { mark: today }) };
}

/** The vector of a module's descriptor, if that came along. */
function readVector(
  { name, descriptor }: ModuleManifest,
  fields: ReadonlyMap<string, FieldValue>,
  codebookOf: Codebooks,
): Float32Array | undefined {
  if (descriptor === undefined) return undefined;
  const text = fields.get(descriptor.output) as string | undefined;
  if (text !== undefined) return decodeDescriptor(text, name, codebookOf(name));
  const orphan = Object.values(codeKeys(name)).find((key) => fields.has(key));
  if (orphan === undefined) return undefined;
  throw refuse(`${orphan} came without ${descriptor.output}, from which it is made. Send both, or neither.`);
}

/** Makes the codes of a vector and puts them into `fields`. Gives its cell. */
function remakeCodes(
  codebook: Codebook,
  keys: CodeKeys,
  fields: Map<string, FieldValue>,
  vector: Float32Array,
): number {
  const { cluster, nclusters, lopq, rerank } = encodeCodes(codebook, vector);
  fields.set(keys.cluster, BigInt(cluster)).set(keys.nclusters, nclusters);
  fields.set(keys.lopq, lopq).set(keys.rerank, rerank);
  return cluster;
}

/** The cell, if the codes that came along are complete, of this codebook and of this descriptor. */
function currentCell(
  codebook: Codebook,
  keys: CodeKeys,
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
  // Few training pictures make codebooks of few cells.
  const named = Math.min(NEAREST_CELLS, codebook.cellCount);
  if (!isCurrentLopq(codebook, lopqBytes) || bytes.length !== named * 2) return undefined;
  const cells = new Uint16Array(named);
  for (let i = 0; i < named; i++) {
    const one = (bytes[2 * i] as number) | ((bytes[2 * i + 1] as number) << 8);
    if (one >= codebook.cellCount) return undefined;
    cells[i] = one;
  }
  const [cell] = cells;
  if (cell === undefined || cluster !== BigInt(cell)) return undefined;
  return areCodesOf(codebook, vector, cells, rerank) ? cell : undefined;
}

interface CodeKeys {
  readonly cluster: string;
  readonly nclusters: string;
  readonly lopq: string;
  readonly rerank: string;
}

const keysOf = new Map<string, CodeKeys>();

function codeKeys(module: string): CodeKeys {
  const known = keysOf.get(module);
  if (known !== undefined) return known;
  const keys = {
    cluster: `${module}_cluster`,
    nclusters: `${module}_nclusters`,
    lopq: `${module}_lopq`,
    rerank: `${module}_rerank`,
  };
  keysOf.set(module, keys);
  return keys;
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
  if (pattern && !wholePattern(pattern).test(value)) {
    throw refuse(`${name} holds ${JSON.stringify(value.slice(0, 40))}, which no analysis gives.`);
  }
  if (unstorable(value) !== null) throw refuse(`${name} holds characters that are no text.`);
  return value;
}

const patterns = new Map<string, RegExp>();

function wholePattern(pattern: string): RegExp {
  const known = patterns.get(pattern) ?? new RegExp(`^(?:${pattern})$`);
  patterns.set(pattern, known);
  return known;
}

function refuse(message: string): AkinError {
  return new AkinError('bad-request', message);
}
