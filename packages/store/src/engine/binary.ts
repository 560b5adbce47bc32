/**
 * One-dimensional arrays in the wire format of PostgreSQL. Whole columns travel as one parameter, without the escapes
 * of array literals: that is what makes inserts of many rows cheap on both engines.
 */
export function binaryArray(elementOid: number, elements: readonly (Uint8Array | string | null)[]): Buffer {
  const sizes = elements.map((element) => {
    if (element === null) return 0;
    return typeof element === 'string' ? Buffer.byteLength(element) : element.length;
  });
  const buffer = Buffer.allocUnsafe(20 + sizes.reduce((sum, size) => sum + size + 4, 0));
  buffer.writeInt32BE(elements.length === 0 ? 0 : 1, 0);
  buffer.writeInt32BE(elements.includes(null) ? 1 : 0, 4);
  buffer.writeUInt32BE(elementOid, 8);
  if (elements.length === 0) return buffer.subarray(0, 12);
  buffer.writeInt32BE(elements.length, 12);
  buffer.writeInt32BE(1, 16);
  let offset = 20;
  for (const [i, element] of elements.entries()) {
    const size = sizes[i] ?? 0;
    offset = buffer.writeInt32BE(element === null ? -1 : size, offset);
    if (element === null) continue;
    if (typeof element === 'string') buffer.write(element, offset, size, 'utf8');
    else buffer.set(element, offset);
    offset += size;
  }
  return buffer;
}

const TEXT = 25;
const BYTEA = 17;

/** A parameter `$n::text[]`. */
export function textArray(texts: readonly (string | null)[]): Buffer {
  return binaryArray(TEXT, texts);
}

/** A parameter `$n::bytea[]`. */
export function byteaArray(values: readonly (Uint8Array | null)[]): Buffer {
  return binaryArray(BYTEA, values);
}

/**
 * A vector as the binary format of \`halfvec\` has it: the number of dimensions and a zero as int16, then half floats,
 * all big-endian. Numbers are rounded to the nearest half float, ties to even.
 */
export function encodeHalfvec(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(4 + 2 * vector.length);
  bytes[0] = vector.length >>> 8;
  bytes[1] = vector.length;
  // Indexes, not entries(): ten times as fast, and an import has hundreds of numbers a document.
  for (let i = 0, at = 4; i < vector.length; i++, at += 2) {
    const half = toHalf(vector[i] as number);
    bytes[at] = half >>> 8;
    bytes[at + 1] = half;
  }
  return bytes;
}

/** Reads what `halfvec_send` gives. */
export function decodeHalfvec(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: view.getUint16(0) }, (_, i) => fromHalf(view.getUint16(4 + 2 * i)));
}

const float = new Float32Array(1);
const bitsOfFloat = new Uint32Array(float.buffer);

/** IEEE 754 binary32 to binary16. */
function toHalf(value: number): number {
  float[0] = value;
  const bits = bitsOfFloat[0] as number;
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 127 + 15;
  const mantissa = bits & 0x7fffff;
  if (exponent >= 31) return sign | 0x7c00 | ((bits & 0x7fffffff) > 0x7f800000 ? 0x200 : 0);
  if (exponent <= 0) {
    if (exponent < -10) return sign;
    return sign | roundedShift(mantissa | 0x800000, 14 - exponent);
  }
  // A mantissa that rounds up carries into the exponent, which is just right.
  return sign | ((exponent << 10) + roundedShift(mantissa, 13));
}

/** Shifts right, rounding to the nearest, ties to even. */
function roundedShift(value: number, shift: number): number {
  const half = 1 << (shift - 1);
  const rest = value & ((1 << shift) - 1);
  const quotient = value >>> shift;
  return rest > half || (rest === half && (quotient & 1) === 1) ? quotient + 1 : quotient;
}

function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 31;
  const mantissa = half & 0x3ff;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}
