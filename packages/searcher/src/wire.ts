/*
 * How documents come from the database: `int8send(doc)`, then what there is of each.
 */

/** Bytes of a row: the document, and the commit from or to which it is seen. */
export const ROW_BYTES = 12;
export const DOC_BYTES = 8;

/** Calls back with each document and its commit. */
export function readRows(bytes: Uint8Array, take: (doc: number, commit: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += ROW_BYTES) take(readDoc(view, at), view.getUint32(at + DOC_BYTES));
}

/** Calls back with each document. */
export function readDocs(bytes: Uint8Array, take: (doc: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += DOC_BYTES) take(readDoc(view, at));
}

/**
 * Calls back with each document and its vector, as `halfvec_send` gives it.
 * @param isWanted tells which are read at all
 */
export function readVectors(
  bytes: Uint8Array,
  dimensions: number,
  isWanted: (doc: number) => boolean,
  take: (doc: number, vector: Float32Array) => void,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const vector = new Float32Array(dimensions);
  // The number of dimensions and a zero, then half floats.
  const stride = DOC_BYTES + 4 + 2 * dimensions;
  if (bytes.length % stride !== 0)
    throw new Error(`vectors of ${dimensions} numbers do not have ${bytes.length} bytes`);
  for (let at = 0; at < bytes.length; at += stride) {
    const doc = readDoc(view, at);
    if (!isWanted(doc)) continue;
    for (let i = 0, from = at + DOC_BYTES + 4; i < dimensions; i++, from += 2) {
      vector[i] = HALVES[((bytes[from] as number) << 8) | (bytes[from + 1] as number)] as number;
    }
    take(doc, vector);
  }
}

function readDoc(view: DataView, at: number): number {
  return view.getUint32(at) * 0x1_0000_0000 + view.getUint32(at + 4);
}

/** Every IEEE 754 binary16 as a number. */
const HALVES = Float32Array.from({ length: 65_536 }, (_, half) => {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 31;
  const mantissa = half & 0x3ff;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
});
