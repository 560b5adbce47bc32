import {
  badRequest,
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
import { packCodes } from './stored-descriptor.ts';

/** Parsed outputs of an analysis. */
export interface Outputs {
  /** The values by output name, without absent outputs. Codes are always those of the current codebook. */
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** By module name. */
  readonly descriptors: ReadonlyMap<string, OutputDescriptor>;
}

/** The descriptor of a module. Its numbers are converted when they are first needed. */
export class OutputDescriptor {
  readonly model: string;
  /** Its numbers as little-endian halves. */
  readonly halves: Uint8Array;
  /** Its codes that {@link descriptorTexts} reads. Empty if only the vector was wanted. */
  readonly codes: Uint8Array;
  #vector: Float32Array | undefined;

  constructor(model: string, halves: Uint8Array, codes: Uint8Array) {
    this.model = model;
    this.halves = halves;
    this.codes = codes;
  }

  /** The vector that ranking uses. */
  get vector(): Float32Array {
    this.#vector ??= readHalves(this.halves, 0, this.halves.length / 2);
    return this.#vector;
  }
}

/** The codebook of each module with a descriptor, which is needed to read outputs. */
export type Codebooks = (module: string) => Codebook;

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
 * @param rankOnly Only vectors are needed: codes stay as they were sent, which saves most of the work.
 * @throws {AkinError} bad-request that names the key and what is wrong, or both models when they differ.
 */
export function parseOutputs(json: string, rankOnly = false): Outputs {
  return readOutputs(json, codebookOf, rankOnly);
}

/** Works as `parseOutputs`, but with other codebooks than those in use. */
export function readOutputs(json: string, codebookOf: Codebooks, rankOnly = false): Outputs {
  if (json.length > MAX_CHARACTERS) {
    throw badRequest(`The outputs of an analysis have at most ${MAX_CHARACTERS} characters, these ${json.length}.`);
  }
  const sent = parseJson(json, { depth: 4 });
  if (!(sent instanceof JsonObject)) throw badRequest('The outputs of an analysis are a JSON object.');
  const values = valuesOf(sent);
  const read = OUTPUTS.map((output, i) =>
    values[i] === null ? undefined : readOutput(output, values[i] as JsonValue),
  );
  const descriptors = DESCRIBED.map((described) => readDescriptor(described, read, codebookOf, rankOnly));
  if (read.every((value) => value === undefined) && sent.get('outputs') !== undefined) {
    throw badRequest('This is a whole response of /analyze. Send the text in its "outputs" alone.');
  }
  return new ReadOutputs(read, descriptors);
}

/** Reads a descriptor. Unless only the vector is wanted, codes that are not its own are replaced in the values. */
function readDescriptor(
  described: DescriptorOutputs,
  values: Values,
  codebookOf: Codebooks,
  rankOnly: boolean,
): OutputDescriptor | undefined {
  const codebook = codebookOf(described.module);
  const halves = readHalvesOf(described, values, codebook);
  if (halves === undefined) return undefined;
  const vector = readUnit(halves, described.module, scratchOf(halves.length / 2));
  const codes = decodeCodes(described, values);
  if (rankOnly) return new OutputDescriptor(codebook.model, halves, NO_CODES);
  if (codes !== undefined && areCurrent(codebook, codes, vector)) {
    return new OutputDescriptor(codebook.model, halves, packCodes(codes));
  }
  recomputeCodes(codebook, described, values, vector);
  return new OutputDescriptor(codebook.model, halves, packCodes(decodeCodes(described, values) as SentCodes));
}

const NO_CODES = new Uint8Array();

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

/** Outputs whose maps are made when they are first needed. */
class ReadOutputs implements Outputs {
  readonly #values: Values;
  readonly #found: readonly (OutputDescriptor | undefined)[];
  #fields: Map<string, FieldValue> | undefined;
  #descriptors: Map<string, OutputDescriptor> | undefined;

  constructor(values: Values, found: readonly (OutputDescriptor | undefined)[]) {
    this.#values = values;
    this.#found = found;
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
  throw badRequest(
    `${nameOf(orphan)} came without ${nameOf(descriptor)}, from which it is made. Send both, or neither.`,
  );
}

const nameOf = (index: number) => (OUTPUTS[index] as OutputField).name;

function recomputeCodes(codebook: Codebook, described: DescriptorOutputs, values: Values, vector: Float32Array): void {
  const { cluster, nclusters, lopq, rerank } = encodeCodes(codebook, vector);
  values[described.cluster] = BigInt(cluster);
  values[described.nclusters] = nclusters;
  values[described.lopq] = lopq;
  values[described.rerank] = rerank;
}

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

function areCurrent(
  codebook: Codebook,
  { lopq, nclusters: bytes, cluster, rerank }: SentCodes,
  vector: Float32Array,
): boolean {
  // A small training set makes a codebook with few cells.
  const named = Math.min(NEAREST_CELLS, codebook.cellCount);
  if (!isCurrentLopq(codebook, lopq) || bytes.length !== named * 2) return false;
  const cells = new Uint16Array(named);
  for (let i = 0; i < named; i++) {
    const one = (bytes[2 * i] as number) | ((bytes[2 * i + 1] as number) << 8);
    if (one >= codebook.cellCount) return false;
    cells[i] = one;
  }
  const [cell] = cells;
  return cell !== undefined && cluster === BigInt(cell) && areCodesOf(codebook, vector, cells, rerank);
}

/** Converts a value to the type of its output, or throws an error that names it. */
function readOutput(output: OutputField, value: JsonValue): FieldValue {
  const { name, type } = output;
  switch (type) {
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw badRequest(`${name} must be true or false.`);
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
  if (!isJsonArray(value)) throw badRequest(`${name} must be an array.`);
  if (value.length > MAX_ELEMENTS)
    throw badRequest(`${name} has ${value.length} elements; at most ${MAX_ELEMENTS} fit.`);
  return value;
}

function readLong({ name, range }: OutputField, value: JsonValue): bigint {
  const long = value instanceof JsonNumber ? parseLong(value.text) : null;
  if (long === null) throw badRequest(`${name} must hold whole numbers of 64 bits.`);
  if (range && (long < range[0] || long > range[1]))
    throw badRequest(`${name} must lie in ${range[0]} to ${range[1]}.`);
  return long;
}

function readDouble({ name, range }: OutputField, value: JsonValue): number {
  const double = value instanceof JsonNumber ? Number(value.text) : Number.NaN;
  if (!Number.isFinite(double)) throw badRequest(`${name} must hold numbers.`);
  if (range && (double < range[0] || double > range[1]))
    throw badRequest(`${name} must lie in ${range[0]} to ${range[1]}.`);
  return double;
}

function readString({ name, pattern }: OutputField, value: JsonValue): string {
  if (typeof value !== 'string') throw badRequest(`${name} must hold text.`);
  if (value.length > MAX_STRING) throw badRequest(`${name} contains a text of ${value.length} characters.`);
  if (pattern && !wholePattern(pattern).test(value)) {
    throw badRequest(`${name} contains ${JSON.stringify(value.slice(0, 40))}, which is not a result of an analysis.`);
  }
  if (unstorableReason(value) !== null) throw badRequest(`${name} contains characters that are not text.`);
  return value;
}

const patterns = new Map<string, RegExp>();

function wholePattern(pattern: string): RegExp {
  const known = patterns.get(pattern) ?? new RegExp(`^(?:${pattern})$`);
  patterns.set(pattern, known);
  return known;
}
