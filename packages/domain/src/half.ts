/**
 * IEEE 754 half precision (binary16), the format of stored descriptors and shipped weights. Every half-precision number
 * is exactly a float, so reading is lossless.
 */

let halfValues: Float32Array | undefined;

/**
 * The float values of all 65,536 half-precision numbers (256 kB, computed once): several times faster than decoding bit
 * by bit.
 */
export function halfTable(): Float32Array {
  if (halfValues !== undefined) return halfValues;
  halfValues = new Float32Array(65536);
  const bits = new Uint32Array(halfValues.buffer);
  for (let half = 0; half < 0x8000; half++) {
    const exponent = half & 0x7c00;
    if (exponent === 0) halfValues[half] = half * 2 ** -24;
    // Infinity, and what is not a number.
    else if (exponent === 0x7c00) bits[half] = (half << 13) | 0x7f800000;
    else bits[half] = (half << 13) + 0x38000000;
    bits[half + 0x8000] = (bits[half] as number) | 0x80000000;
  }
  return halfValues;
}

const floatOfBits = new Float32Array(1);
const bitsOfFloat = new Uint32Array(floatOfBits.buffer);

/**
 * Rounds to the nearest half-precision number, ties to even. Too large numbers become infinity, too small ones zero.
 */
export function toHalf(value: number): number {
  floatOfBits[0] = value;
  const bits = bitsOfFloat[0] as number;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7e00;
  // From here on the nearest half is infinity: 65520 is half way between the largest half, 65504, and the next step.
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  // Below the smallest normal half (2^-14), steps are 2^-24 wide; scaling by 2^24 is exact.
  if (magnitude < 0x38800000) return sign | roundHalfEven(Math.abs(value) * 16777216);
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | ((rounded - 0x38000000) >>> 13);
}

function roundHalfEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
}

/**
 * Converts little-endian half-precision numbers to floats.
 *
 * @param offset byte at which the first number begins
 * @param values receives the `count` floats, and is returned
 */
export function readHalves(
  bytes: Uint8Array,
  offset: number,
  count: number,
  values: Float32Array = new Float32Array(count),
): Float32Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, count);
  for (let i = 0, at = offset; i < count; i++, at += 2) {
    const half = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
    const exponent = half & 0x7c00;
    // Shifting bits is faster than the table, which does not fit into the L1 cache.
    if (exponent !== 0 && exponent !== 0x7c00)
      bits[i] = ((half & 0x8000) << 16) | (((half & 0x7fff) << 13) + 0x38000000);
    else values[i] = halfTable()[half] as number;
  }
  return values;
}

/** Converts numbers to little-endian half precision, written into `bytes` from `offset`. */
export function writeHalves(values: ArrayLike<number>, bytes: Uint8Array, offset: number): void {
  for (let i = 0, at = offset; i < values.length; i++, at += 2) {
    const half = toHalf(values[i] as number);
    bytes[at] = half & 0xff;
    bytes[at + 1] = half >>> 8;
  }
}

/** Rounds each number to the nearest half-precision number. */
export function roundToHalves(values: ArrayLike<number>): Float32Array {
  const floats = halfTable();
  const rounded = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) rounded[i] = floats[toHalf(values[i] as number)] as number;
  return rounded;
}
