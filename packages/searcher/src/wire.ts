import { halfTable } from '@akin/domain';

/*
 * How documents come from the database: `int8send(doc)`, then what there is of each.
 */

/** Bytes of a row: the document, and the commit from or to which it is seen, or its cell. */
const ROW_BYTES = 12;
const DOC_BYTES = 8;

/** Calls back with each document and its commit. */
export function readRows(bytes: Uint8Array, take: (doc: number, commit: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += ROW_BYTES) take(readDoc(view, at), view.getUint32(at + DOC_BYTES));
}

/** Calls back with each document and its cell. */
export function readCells(bytes: Uint8Array, take: (doc: number, cell: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += ROW_BYTES) take(readDoc(view, at), view.getInt32(at + DOC_BYTES));
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
  const halves = halfTable();
  // The number of dimensions and a zero, then half floats.
  const stride = DOC_BYTES + 4 + 2 * dimensions;
  if (bytes.length % stride !== 0)
    throw new Error(`vectors of ${dimensions} numbers do not have ${bytes.length} bytes`);
  for (let at = 0; at < bytes.length; at += stride) {
    const doc = readDoc(view, at);
    if (!isWanted(doc)) continue;
    for (let i = 0, from = at + DOC_BYTES + 4; i < dimensions; i++, from += 2) {
      vector[i] = halves[((bytes[from] as number) << 8) | (bytes[from + 1] as number)] as number;
    }
    take(doc, vector);
  }
}

function readDoc(view: DataView, at: number): number {
  return view.getUint32(at) * 0x1_0000_0000 + view.getUint32(at + 4);
}
