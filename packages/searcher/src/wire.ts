import { halfTable } from '@akin/domain';

/*
 * How rows come from the database: in the binary form of COPY. Rows of a collection have the fields `doc`, the commit
 * from which and the one to which it is seen (int8), then a vector of each of some modules (halfvec). A row without
 * the commit from which it is seen is known already; one without a document tells, in the place of that commit, up to
 * which commit rows that ended may be gone. Values of a column come in that form too. All else comes as
 * `int8send(doc)` and what there is of it, one after the other.
 */

/** Signature, flags, and the length of an extension, which nobody uses. */
const HEADER_BYTES = 19;
const DOC_BYTES = 8;
/** A document, and its cell. */
const CELL_BYTES = 12;
/** In front of the numbers of a vector: how many there are, and a zero. */
const VECTOR_HEADER_BYTES = 4;

/** A row of a collection; undefined where a field is null. */
export interface WireRow {
  doc: number | undefined;
  from: number | undefined;
  to: number | undefined;
  /** Where the vector of each module is: the address of its bytes, -1 where there is none. */
  readonly vectors: number[];
}

/** Calls back with each row, always the same object. */
export function readRows(bytes: Uint8Array, take: (row: WireRow) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const row: WireRow = { doc: undefined, from: undefined, to: undefined, vectors: [] };
  let at = HEADER_BYTES;
  const number = () => {
    const length = view.getInt32(at);
    at += 4;
    if (length < 0) return undefined;
    if (length !== DOC_BYTES) throw new Error(`a number of ${length} bytes`);
    at += DOC_BYTES;
    return readNumber(view, at - DOC_BYTES);
  };
  for (;;) {
    const fields = view.getInt16(at);
    at += 2;
    if (fields < 0) return;
    row.doc = number();
    row.from = number();
    row.to = number();
    for (let i = 3; i < fields; i++) {
      const length = view.getInt32(at);
      row.vectors[i - 3] = length < 0 ? -1 : at + 4;
      at += 4 + Math.max(0, length);
    }
    take(row);
  }
}

/** The vector at an address, as `halfvec_send` gives it. @param into is filled and given back where it has the right length. */
export function readVector(bytes: Uint8Array, at: number, into: Float32Array): Float32Array {
  const dimensions = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  const vector = into.length === dimensions ? into : new Float32Array(dimensions);
  const halves = halfTable();
  for (let i = 0, from = at + VECTOR_HEADER_BYTES; i < dimensions; i++, from += 2) {
    vector[i] = halves[((bytes[from] as number) << 8) | (bytes[from + 1] as number)] as number;
  }
  return vector;
}

/** Where documents are in an answer: `int8send(doc)` of each. */
export interface DocList {
  readonly at: number;
  readonly count: number;
}

/** Calls back with each value and its documents: rows of COPY with a text and `int8send(doc)` of each document. */
export function readValues(bytes: Uint8Array, take: (value: string, docs: DocList) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const field = (at: number) => ({ at: at + 4, end: at + 4 + view.getInt32(at) });
  for (let at = HEADER_BYTES; view.getInt16(at) >= 0; ) {
    const value = field(at + 2);
    const docs = field(value.end);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + value.at, value.end - value.at).toString();
    take(text, { at: docs.at, count: (docs.end - docs.at) / DOC_BYTES });
    at = docs.end;
  }
}

/** Calls back with each document of a list. */
export function readDocs(bytes: Uint8Array, { at, count }: DocList, take: (doc: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < count; i++) take(readNumber(view, at + DOC_BYTES * i));
}

/** What the rows of an answer are, all in all. */
export interface Summary {
  /** Rows that are new, or only bring vectors. */
  count: number;
  /** The greatest number of a document among them. */
  last: number;
  /** Rows that ended. */
  ends: number;
  /** Rows that commits up to this one ended may be gone. */
  forgotten: number;
}

export function summaryOf(bytes: Uint8Array): Summary {
  const summary: Summary = { count: 0, last: -1, ends: 0, forgotten: 0 };
  readRows(bytes, ({ doc, from, to }) => {
    if (doc === undefined) {
      summary.forgotten = from ?? 0;
    } else if (to !== undefined) {
      summary.ends++;
    } else {
      summary.count++;
      summary.last = Math.max(summary.last, doc);
    }
  });
  return summary;
}

/** Calls back with each document and its cell. */
export function readCells(bytes: Uint8Array, take: (doc: number, cell: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += CELL_BYTES) take(readNumber(view, at), view.getInt32(at + DOC_BYTES));
}

/**
 * Calls back with each document and its vector, which come as `int8send` and `halfvec_send` give them.
 * @param isWanted says which of them are read at all
 */
export function readVectors(
  bytes: Uint8Array,
  dimensions: number,
  isWanted: (doc: number) => boolean,
  take: (doc: number, vector: Float32Array) => void,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const vector = new Float32Array(dimensions);
  const stride = DOC_BYTES + VECTOR_HEADER_BYTES + 2 * dimensions;
  if (bytes.length % stride !== 0)
    throw new Error(`vectors of ${dimensions} numbers do not have ${bytes.length} bytes`);
  for (let at = 0; at < bytes.length; at += stride) {
    const doc = readNumber(view, at);
    if (isWanted(doc)) take(doc, readVector(bytes, at + DOC_BYTES, vector));
  }
}

function readNumber(view: DataView, at: number): number {
  return view.getUint32(at) * 0x1_0000_0000 + view.getUint32(at + 4);
}
