import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  AkinError,
  type FieldValue,
  isJsonArray,
  JsonNumber,
  JsonObject,
  type JsonValue,
  type OutputField,
  parseJson,
  parseLong,
  readHalves,
  unstorableReason,
} from '@akin/domain';
import { MODULES } from '../manifests.ts';
import { decodeBase64 } from './base64.ts';
import { type Codebook, codebookOf } from './codebook.ts';
import { areCodesOf, encodeCodes, isCurrentLopq, NEAREST_CELLS } from './codes.ts';
import { descriptorHalves, readUnit } from './descriptor.ts';

/** Parsed outputs of an analysis. */
export interface Outputs {
  /** The values by output name, without absent outputs. Codes are always those of the current codebook. */
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** The descriptors by module name. */
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
function validationHashOf(json: string, codebookOf: Codebooks): string {
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
 * @param mark The mark that this function returned for the same text. Ignored if the codebooks have changed.
 * @param rankOnly Only vectors are needed: codes stay as they were sent, which saves most of the work.
 * @throws {AkinError} bad-request that names the key and what is wrong, or both models when they differ.
 */
export function parseOutputs(json: string, mark?: string, rankOnly = false): Outputs {
  return readOutputs(json, mark, codebookOf, rankOnly);
}

/** Works as `parseOutputs`, but with other codebooks than those in use. */
export function readOutputs(json: string, mark: string | undefined, codebookOf: Codebooks, rankOnly = false): Outputs {
  if (json.length > MAX_CHARACTERS) {
    throw refuse(`The outputs of an analysis have at most ${MAX_CHARACTERS} characters, these ${json.length}.`);
  }
  const sent = parseJson(json, { depth: 4 });
  if (!(sent instanceof JsonObject)) throw refuse('The outputs of an analysis are a JSON object.');
  const values = valuesOf(sent);
  const today = rankOnly ? undefined : validationHashOf(json, codebookOf);
  if (mark !== undefined && mark === today) {
    const known = OUTPUTS.map((output, i) =>
      values[i] === null ? undefined : knownOutput(output, values[i] as JsonValue),
    );
    return new ReadOutputs(known, descriptorsOf(known, codebookOf), mark);
  }
  const read = OUTPUTS.map((output, i) =>
    values[i] === null ? undefined : readOutput(output, values[i] as JsonValue),
  );
  const descriptors: (OutputDescriptor | undefined)[] = [];
  let remade = false;
  for (const described of DESCRIBED) {
    const codebook = codebookOf(described.module);
    const halves = readHalvesOf(described, read, codebook);
    if (halves === undefined) {
      descriptors.push(undefined);
      continue;
    }
    const vector = readUnit(halves, described.module, scratchOf(halves.length / 2));
    const codes = decodeCodes(described, read);
    if (rankOnly) {
      descriptors.push(new OutputDescriptor(NO_CELL, halves));
      continue;
    }
    let cell = codes && currentCell(codebook, codes, vector);
    if (cell === undefined) {
      cell = recomputeCodes(codebook, described, read, vector);
      remade = true;
    }
    descriptors.push(new OutputDescriptor(cell, halves));
  }
  if (read.every((value) => value === undefined) && sent.get('outputs') !== undefined) {
    throw refuse('This is a whole response of /analyze. Send the text in its "outputs" alone.');
  }
  return new ReadOutputs(read, descriptors, remade ? undefined : today);
}

/** The outputs of all modules. Values of outputs are in this order: an import has no time for maps. */
const OUTPUTS = MODULES.flatMap(({ outputs }) => outputs);
const INDEXES: ReadonlyMap<string, number> = new Map(OUTPUTS.map(({ name }, index) => [name, index]));

/** A module with a descriptor, and the indexes of its outputs. */
interface DescriptorOutputs {
  readonly module: string;
  readonly descriptor: number;
  readonly cluster: number;
  readonly nclusters: number;
  readonly lopq: number;
  readonly rerank: number;
}

const DESCRIBED: readonly DescriptorOutputs[] = MODULES.flatMap(({ name: module, descriptor }) => {
  if (descriptor === undefined) return [];
  const index = (name: string) => {
    const found = INDEXES.get(name);
    if (found === undefined) throw new Error(`The module ${module} has no output ${name}.`);
    return found;
  };
  return {
    module,
    descriptor: index(descriptor.output),
    cluster: index(`${module}_cluster`),
    nclusters: index(`${module}_nclusters`),
    lopq: index(`${module}_lopq`),
    rerank: index(`${module}_rerank`),
  };
});

type Values = (FieldValue | undefined)[];

/** Outputs whose maps are made when they are first needed: a change that is accepted needs the mark alone. */
class ReadOutputs implements Outputs {
  readonly mark?: string;
  readonly #values: Values;
  readonly #found: readonly (OutputDescriptor | undefined)[];
  #fields: Map<string, FieldValue> | undefined;
  #descriptors: Map<string, OutputDescriptor> | undefined;

  constructor(values: Values, found: readonly (OutputDescriptor | undefined)[], mark: string | undefined) {
    this.#values = values;
    this.#found = found;
    if (mark !== undefined) this.mark = mark;
  }

  get fields(): ReadonlyMap<string, FieldValue> {
    if (this.#fields === undefined) {
      this.#fields = new Map();
      for (const [index, value] of this.#values.entries()) {
        if (value !== undefined) this.#fields.set((OUTPUTS[index] as OutputField).name, value);
      }
    }
    return this.#fields;
  }

  get descriptors(): ReadonlyMap<string, OutputDescriptor> {
    if (this.#descriptors === undefined) {
      this.#descriptors = new Map();
      for (const [i, found] of this.#found.entries()) {
        if (found !== undefined) this.#descriptors.set((DESCRIBED[i] as DescriptorOutputs).module, found);
      }
    }
    return this.#descriptors;
  }
}

/** The value of each output; null if it is absent. If a key is repeated, the last value counts. */
function valuesOf({ entries }: JsonObject): JsonValue[] {
  const values = new Array<JsonValue>(OUTPUTS.length).fill(null);
  let next = 0;
  for (const [key, value] of entries) {
    // They usually come in order: comparing two texts is faster than finding one.
    const index = OUTPUTS[next]?.name === key ? next : INDEXES.get(key);
    if (index === undefined) continue;
    values[index] = value;
    next = index + 1;
  }
  return values;
}

/** The descriptors of a text that was checked before. */
function descriptorsOf(values: Values, codebookOf: Codebooks): (OutputDescriptor | undefined)[] {
  return DESCRIBED.map((described) => {
    const halves = readHalvesOf(described, values, codebookOf(described.module));
    return halves && new OutputDescriptor(Number(values[described.cluster]), halves);
  });
}

/** Reads a value of a text that was checked before. */
function knownOutput({ type }: OutputField, value: JsonValue): FieldValue {
  switch (type) {
    case 'long':
      return knownLong(value);
    case 'double':
      return knownDouble(value);
    case 'longs':
      return (value as readonly JsonValue[]).map(knownLong);
    case 'doubles':
      return (value as readonly JsonValue[]).map(knownDouble);
    default:
      return value as boolean | string | readonly string[];
  }
}

const knownLong = (value: JsonValue) => BigInt((value as JsonNumber).text);
const knownDouble = (value: JsonValue) => Number((value as JsonNumber).text);

/** One vector of each length. The checks reuse them: otherwise an import would create much garbage. */
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
function readHalvesOf(described: DescriptorOutputs, values: Values, codebook: Codebook): Uint8Array | undefined {
  const { module, descriptor, cluster, nclusters, lopq, rerank } = described;
  const text = values[descriptor] as string | undefined;
  if (text !== undefined) return descriptorHalves(text, module, codebook);
  const orphan = [cluster, nclusters, lopq, rerank].find((index) => values[index] !== undefined);
  if (orphan === undefined) return undefined;
  throw refuse(`${nameOf(orphan)} came without ${nameOf(descriptor)}, from which it is made. Send both, or neither.`);
}

const nameOf = (index: number) => (OUTPUTS[index] as OutputField).name;

/** Computes the codes of a vector and adds them to the values. Returns the cell. */
function recomputeCodes(
  codebook: Codebook,
  described: DescriptorOutputs,
  values: Values,
  vector: Float32Array,
): number {
  const { cluster, nclusters, lopq, rerank } = encodeCodes(codebook, vector);
  values[described.cluster] = BigInt(cluster);
  values[described.nclusters] = nclusters;
  values[described.lopq] = lopq;
  values[described.rerank] = rerank;
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
function decodeCodes(described: DescriptorOutputs, values: Values): SentCodes | undefined {
  const lopqText = values[described.lopq] as string | undefined;
  const nclustersText = values[described.nclusters] as string | undefined;
  const cluster = values[described.cluster] as bigint | undefined;
  const rerank = values[described.rerank] as bigint | undefined;
  const lopq = lopqText === undefined ? undefined : decodeBase64(lopqText, nameOf(described.lopq), MAX_STRING);
  const nclusters =
    nclustersText === undefined ? undefined : decodeBase64(nclustersText, nameOf(described.nclusters), MAX_STRING);
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
    case 'dates':
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
  if (unstorableReason(value) !== null) throw refuse(`${name} contains characters that are not text.`);
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
