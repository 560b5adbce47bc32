import { readHalves, toHalf } from '@akin/domain';

/**
 * One-dimensional arrays in the wire format of PostgreSQL. Whole columns are sent as one parameter, without the escapes
 * of array literals: this makes inserts of many rows cheap on both databases.
 */
function binaryArray(elementOid: number, elements: readonly (Uint8Array | string | null)[]): Buffer {
  const sizes = elements.map((element) => {
    if (element === null) return 0;
    return typeof element === 'string' ? Buffer.byteLength(element) : element.length;
  });
  const buffer = Buffer.allocUnsafe(HEADER + sizes.reduce((sum, size) => sum + size + 4, 0));
  let offset = writeHeader(buffer, elementOid, elements);
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i] ?? null;
    const size = sizes[i] ?? 0;
    offset = buffer.writeInt32BE(element === null ? -1 : size, offset);
    if (element === null) continue;
    if (typeof element === 'string') buffer.write(element, offset, size, 'utf8');
    else buffer.set(element, offset);
    offset += size;
  }
  return buffer.subarray(0, offset);
}

const HEADER = 20;

/** @returns where the elements begin */
function writeHeader(buffer: Buffer, elementOid: number, elements: readonly unknown[]): number {
  buffer.writeInt32BE(elements.length === 0 ? 0 : 1, 0);
  buffer.writeInt32BE(elements.includes(null) ? 1 : 0, 4);
  buffer.writeUInt32BE(elementOid, 8);
  // No elements, no dimensions.
  if (elements.length === 0) return 12;
  buffer.writeInt32BE(elements.length, 12);
  return buffer.writeInt32BE(1, 16);
}

const INT8 = 20;
const INT4 = 23;
const TEXT = 25;
const FLOAT8 = 701;
const TIMESTAMPTZ = 1184;
/** The epoch of PostgreSQL, in milliseconds since 1970. */
const EPOCH = Date.UTC(2000, 0, 1);

/** A parameter `$n::bigint[]`. */
export function longArray(values: readonly (bigint | null)[]): Buffer {
  return numberArray(INT8, 8, values, (buffer, value, offset) => buffer.writeBigInt64BE(value, offset));
}

/** A parameter `$n::int[]`. */
export function intArray(values: readonly number[]): Buffer {
  return numberArray(INT4, 4, values, (buffer, value, offset) => buffer.writeInt32BE(value, offset));
}

/** A parameter `$n::float8[]`. */
export function doubleArray(values: readonly number[]): Buffer {
  return numberArray(FLOAT8, 8, values, (buffer, value, offset) => buffer.writeDoubleBE(value, offset));
}

/** A parameter `$n::timestamptz[]`. */
export function timestampArray(values: readonly Date[]): Buffer {
  return numberArray(TIMESTAMPTZ, 8, values, (buffer, value, offset) =>
    buffer.writeBigInt64BE(timestampOf(value), offset),
  );
}

/** The binary format of a timestamp: microseconds since 2000. */
export function timestampOf(date: Date): bigint {
  return BigInt(date.getTime() - EPOCH) * 1_000n;
}

function numberArray<Value>(
  elementOid: number,
  size: number,
  values: readonly (Value | null)[],
  write: (buffer: Buffer, value: Value, offset: number) => number,
): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER + (4 + size) * values.length);
  let offset = writeHeader(buffer, elementOid, values);
  for (const value of values) {
    offset = buffer.writeInt32BE(value === null ? -1 : size, offset);
    if (value !== null) offset = write(buffer, value, offset);
  }
  return buffer.subarray(0, offset);
}

/** A parameter `$n::text[]`. */
export function textArray(texts: readonly (string | null)[]): Buffer {
  return binaryArray(TEXT, texts);
}

/**
 * The values of some properties, as one array for each: the arguments of `unnest`.
 *
 * @example query('… from unnest($1::bigint[], $2::int[]) as t (request, position)', columnsOf(rows, 'request',
 * 'position'))
 */
export function columnsOf<Row, Name extends keyof Row>(rows: readonly Row[], ...names: readonly Name[]): Row[Name][][] {
  return names.map((name) => rows.map((row) => row[name]));
}

/** The numbers of documents in some rows, without null. */
export function docsOf(rows: readonly { readonly doc: bigint | null }[]): bigint[] {
  return rows.flatMap(({ doc }) => doc ?? []);
}

/**
 * A vector in the binary format of `halfvec`: the number of dimensions and a zero as int16, then half floats, all
 * big-endian. Numbers are rounded to the nearest half float, ties to even.
 */
export function encodeHalfvec(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(4 + 2 * vector.length);
  bytes[0] = vector.length >>> 8;
  bytes[1] = vector.length;
  // Indexes, not entries(): ten times as fast, and an import has hundreds of numbers per document.
  for (let i = 0, at = 4; i < vector.length; i++, at += 2) {
    const half = toHalf(vector[i] as number);
    bytes[at] = half >>> 8;
    bytes[at + 1] = half;
  }
  return bytes;
}

/** The binary format of `halfvec`, from numbers that are already little-endian half floats. */
export function halfvecOfHalves(halves: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(4 + halves.length);
  bytes.writeUInt32BE((halves.length / 2) << 16, 0);
  bytes.set(halves, 4);
  bytes.subarray(4).swap16();
  return bytes;
}

/** The inverse of {@link halfvecOfHalves}, for the output of `halfvec_send`. */
export function halvesOfHalfvec(bytes: Uint8Array): Uint8Array {
  return Buffer.from(bytes.subarray(4)).swap16();
}

/** Parses the output of `halfvec_send`. */
export function decodeHalfvec(bytes: Uint8Array): Float32Array {
  const halves = halvesOfHalfvec(bytes);
  return readHalves(halves, 0, halves.length / 2);
}
