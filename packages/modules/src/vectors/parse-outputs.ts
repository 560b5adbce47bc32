import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
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
  readHalves,
  unstorable,
} from '@akin/domain';
import { MODULES } from '../manifests.ts';
import { decodeBase64 } from './base64.ts';
import { type Codebook, codebookOf } from './codebook.ts';
import { areCodesOf, encodeCodes, isCurrentLopq, NEAREST_CELLS } from './codes.ts';
import { descriptorHalves, readUnit } from './descriptor.ts';

/** Parsed outputs of an analysis. */
export interface Outputs {
  /** By output name, without absent outputs. Codes are always those of the current codebook. */
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** By module name. */
  readonly descriptors: ReadonlyMap<string, OutputDescriptor>;
  /**
   * Present if the codes in the text are those of the current codebooks. A caller that stores the text and the mark may
   * pass both to `parseOutputs` again, which then reads the values without checking them.
   */
  readonly mark?: string;
}

/** The descriptor of a module. Its numbers are converted when they are first needed. */
export class OutputDescriptor {
  /** The index of its nearest coarse centroid. */
  readonly cell: number;
  /** Its numbers as little-endian halves. */
  readonly halves: Uint8Array;
  #vector: Float32Array | undefined;

  constructor(cell: number, halves: Uint8Array) {
    this.cell = cell;
    this.halves = halves;
  }

  /** The vector that ranking uses. */
  get vector(): Float32Array {
    this.#vector ??= readHalves(this.halves, 0, this.halves.length / 2);
    return this.#vector;
  }
}

/** The codebook of each module with a descriptor, which is needed to read outputs. */
export type Codebooks = (module: string) => Codebook;

/** Equal in all processes with the same modules, models and codebooks. */
const rules = new Map<Codebooks, string>();

/** The mark of a text: the rules by which it is checked, and its checksum, so that it does not fit another text. */
function markOf(json: string, codebookOf: Codebooks): string {
  let rule = rules.get(codebookOf);
  if (rule === undefined) {
    const codebooks = MODULES.filter(({ descriptor }) => descriptor).map(({ name }) => codebookOf(name));
    const parts = [MARK_FORMAT, MODULES, codebooks.map(({ model, id }) => [model, [...id]])];
    rule = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
    rules.set(codebookOf, rule);
  }
  return `${rule}-${crc32(json).toString(16)}`;
}

/** Increase this number when the checks change: texts with an older mark are then checked again. */
const MARK_FORMAT = 2;

/** The cell of a descriptor that is only to rank by. */
const NO_CELL = -1;

/** Some thirty times the size of the outputs of the four modules. */
const MAX_CHARACTERS = 100_000;
const MAX_ELEMENTS = 100;
const MAX_STRING = 10_000;

/**
 * Parses outputs that were sent back, as `import` of a document or as `rank.by.outputs`. The outputs of some modules
 * may be missing; unknown keys are ignored. Only the descriptor is trusted: codes are computed again if they are
 * missing, come from another codebook or cannot belong to the descriptor.
 *
 * @param json The text of `outputs` from an analysis.
 * @param mark The mark that this function returned for exactly the same text, if it was stored. Ignored if the
 * codebooks have changed.
 * @param isToRank The outputs are not stored: only vectors are wanted. Codes stay as they were sent, which saves most of
 * the work, and cells are not known.
 * @throws {AkinError} bad-request that names the key and what is wrong, or both models when they differ.
 */
export function parseOutputs(json: string, mark?: string, isToRank = false): Outputs {
  return readOutputs(json, mark, codebookOf, isToRank);
}

/** As `parseOutputs`, with other codebooks than those in use. */
export function readOutputs(json: string, mark: string | undefined, codebookOf: Codebooks, isToRank = false): Outputs {
  if (json.length > MAX_CHARACTERS) {
    throw refuse(`The outputs of an analysis have at most ${MAX_CHARACTERS} characters, these ${json.length}.`);
  }
  const value = parseJson(json, { depth: 4 });
  if (!(value instanceof JsonObject)) throw refuse('The outputs of an analysis are a JSON object.');
  const sent = new Map(value.entries);
  const today = isToRank ? undefined : markOf(json, codebookOf);
  if (mark !== undefined && mark === today) return { ...knownOutputs(sent, codebookOf), mark };
  const fields = new Map<string, FieldValue>();
  const descriptors = new Map<string, OutputDescriptor>();
  let remade = false;
  for (const manifest of MODULES) {
    for (const output of manifest.outputs) {
      const outputValue = sent.get(output.name);
      if (outputValue !== undefined && outputValue !== null) fields.set(output.name, readOutput(output, outputValue));
    }
    const { name } = manifest;
    const codebook = manifest.descriptor && codebookOf(name);
    const halves = codebook && readHalvesOf(manifest, fields, codebook);
    if (codebook === undefined || halves === undefined) continue;
    const keys = codeKeys(name);
    const vector = readUnit(halves, name, scratchOf(halves.length / 2));
    const codes = decodeCodes(keys, fields);
    if (isToRank) {
      descriptors.set(name, new OutputDescriptor(NO_CELL, halves));
      continue;
    }
    let cell = codes && currentCell(codebook, codes, vector);
    if (cell === undefined) {
      cell = remakeCodes(codebook, keys, fields, vector);
      remade = true;
    }
    descriptors.set(name, new OutputDescriptor(cell, halves));
  }
  if (fields.size === 0 && sent.has('outputs')) {
    throw refuse('This is a whole answer of /analyze. Send the text in its "outputs" alone.');
  }
  return { fields, descriptors, ...(remade || today === undefined ? {} : { mark: today }) };
}

/** Reads the values of a text that was checked before. */
function knownOutputs(sent: ReadonlyMap<string, JsonValue>, codebookOf: Codebooks): Omit<Outputs, 'mark'> {
  const fields = new Map<string, FieldValue>();
  const descriptors = new Map<string, OutputDescriptor>();
  for (const manifest of MODULES) {
    for (const output of manifest.outputs) {
      const value = sent.get(output.name);
      if (value !== undefined && value !== null) fields.set(output.name, knownOutput(output, value));
    }
    const { name, descriptor } = manifest;
    const halves = descriptor && readHalvesOf(manifest, fields, codebookOf(name));
    if (halves === undefined) continue;
    descriptors.set(name, new OutputDescriptor(Number(fields.get(codeKeys(name).cluster)), halves));
  }
  return { fields, descriptors };
}

function knownOutput({ type }: OutputField, value: JsonValue): FieldValue {
  const long = (one: JsonValue) => BigInt((one as JsonNumber).text);
  const double = (one: JsonValue) => Number((one as JsonNumber).text);
  switch (type) {
    case 'long':
      return long(value);
    case 'double':
      return double(value);
    case 'longs':
      return (value as readonly JsonValue[]).map(long);
    case 'doubles':
      return (value as readonly JsonValue[]).map(double);
    default:
      return value as boolean | string | readonly string[];
  }
}

/** A vector of each length, which checks reuse: an import would create much garbage otherwise. */
const scratches = new Map<number, Float32Array>();

function scratchOf(dimensions: number): Float32Array {
  let scratch = scratches.get(dimensions);
  if (scratch === undefined) {
    scratch = new Float32Array(dimensions);
    scratches.set(dimensions, scratch);
  }
  return scratch;
}

/** The numbers of a module's descriptor as little-endian halves, if the outputs contain it. */
function readHalvesOf(
  { name, descriptor }: ModuleManifest,
  fields: ReadonlyMap<string, FieldValue>,
  codebook: Codebook,
): Uint8Array | undefined {
  const text = descriptor && (fields.get(descriptor.output) as string | undefined);
  if (text !== undefined) return descriptorHalves(text, name, codebook);
  const orphan = Object.values(codeKeys(name)).find((key) => fields.has(key));
  if (orphan === undefined) return undefined;
  throw refuse(`${orphan} came without ${descriptor?.output}, from which it is made. Send both, or neither.`);
}

/** Computes the codes of a vector and adds them to `fields`. Returns the cell. */
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

/** The codes of a descriptor as they were sent. */
interface SentCodes {
  readonly lopq: Uint8Array;
  readonly nclusters: Uint8Array;
  readonly cluster: bigint | undefined;
  readonly rerank: bigint;
}

/** Undefined if some are missing. Always decoded, so that only valid base64 is stored, even with another codebook. */
function decodeCodes(keys: CodeKeys, fields: ReadonlyMap<string, FieldValue>): SentCodes | undefined {
  const lopqText = fields.get(keys.lopq) as string | undefined;
  const nclustersText = fields.get(keys.nclusters) as string | undefined;
  const cluster = fields.get(keys.cluster) as bigint | undefined;
  const rerank = fields.get(keys.rerank) as bigint | undefined;
  const lopq = lopqText === undefined ? undefined : decodeBase64(lopqText, keys.lopq, MAX_STRING);
  const nclusters = nclustersText === undefined ? undefined : decodeBase64(nclustersText, keys.nclusters, MAX_STRING);
  if (lopq === undefined || nclusters === undefined || rerank === undefined) return undefined;
  return { lopq, nclusters, cluster, rerank };
}

/** The cell, if the codes belong to this codebook and descriptor. */
function currentCell(
  codebook: Codebook,
  { lopq, nclusters: bytes, cluster, rerank }: SentCodes,
  vector: Float32Array,
): number | undefined {
  // A small training set makes a codebook with few cells.
  const named = Math.min(NEAREST_CELLS, codebook.cellCount);
  if (!isCurrentLopq(codebook, lopq) || bytes.length !== named * 2) return undefined;
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

/** Converts a value to the type of its output, or throws an error that names it. */
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
  if (value.length > MAX_STRING) throw refuse(`${name} contains a text of ${value.length} characters.`);
  if (pattern && !wholePattern(pattern).test(value)) {
    throw refuse(`${name} contains ${JSON.stringify(value.slice(0, 40))}, which is not a result of an analysis.`);
  }
  if (unstorable(value) !== null) throw refuse(`${name} contains characters that are not text.`);
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
