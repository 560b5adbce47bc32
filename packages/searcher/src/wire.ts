import { halfTable } from '@akin/domain';

/*
 * The formats in which the database sends rows. Rows of a collection come in the binary format of COPY: `doc`, the
 * first commit that sees the row and the first one that does not (int8), then a vector for each of some modules
 * (halfvec). If the first commit is null, the row is already known. If the document is null, the row says up to which
 * commit ended rows may be removed. Values of a column also come in the format of COPY. Other data comes as
 * `int8send(doc)` followed by its values, without separators.
 */

/** Signature, flags, and the length of the unused extension. */
const HEADER_BYTES = 19;
const DOC_BYTES = 8;
/** Bytes of a document number and its cell. */
const CELL_BYTES = 12;
/** Bytes before the numbers of a vector: its dimensions, and a zero. */
const VECTOR_HEADER_BYTES = 4;

/** A row of a collection; undefined for a field that is null. */
export interface WireRow {
  doc: number | undefined;
  from: number | undefined;
  to: number | undefined;
  /** The address of the vector of each module; -1 if there is none. */
  readonly vectors: number[];
}

/** Calls back with each row; the object is reused. */
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

/**
 * Reads the vector at an address, in the format of `halfvec_send`. @param into is filled and returned if it has the
 * right length
 */
export function readVector(bytes: Uint8Array, at: number, into: Float32Array): Float32Array {
  const dimensions = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  const vector = into.length === dimensions ? into : new Float32Array(dimensions);
  const halves = halfTable();
  for (let i = 0, from = at + VECTOR_HEADER_BYTES; i < dimensions; i++, from += 2) {
    vector[i] = halves[((bytes[from] as number) << 8) | (bytes[from + 1] as number)] as number;
  }
  return vector;
}

/** The address and number of documents in a reply: `int8send(doc)` for each. */
export interface DocList {
  readonly at: number;
  readonly count: number;
}

/** Each value with its documents. The bytes are rows of COPY: a text, and `int8send(doc)` for each document. */
export function* readValues(bytes: Uint8Array): Generator<[value: string, docs: DocList]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const field = (at: number) => ({ at: at + 4, end: at + 4 + view.getInt32(at) });
  for (let at = HEADER_BYTES; view.getInt16(at) >= 0; ) {
    const value = field(at + 2);
    const docs = field(value.end);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + value.at, value.end - value.at).toString();
    yield [text, { at: docs.at, count: (docs.end - docs.at) / DOC_BYTES }];
    at = docs.end;
  }
}

export function readDocs(bytes: Uint8Array, { at, count }: DocList, take: (doc: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < count; i++) take(readNumber(view, at + DOC_BYTES * i));
}

/** A summary of the rows of a reply. */
export interface Summary {
  /** Rows that are new, or that only have vectors. */
  count: number;
  /** The largest document number of these rows. */
  last: number;
  /** Number of rows that ended. */
  expired: number;
  /** Rows that ended up to this commit may be removed. */
  removableUpTo: number;
}

export function summaryOf(bytes: Uint8Array): Summary {
  const summary: Summary = { count: 0, last: -1, expired: 0, removableUpTo: 0 };
  readRows(bytes, ({ doc, from, to }) => {
    if (doc === undefined) {
      summary.removableUpTo = from ?? 0;
    } else if (to !== undefined) {
      summary.expired++;
    } else {
      summary.count++;
      summary.last = Math.max(summary.last, doc);
    }
  });
  return summary;
}

export function readCells(bytes: Uint8Array, take: (doc: number, cell: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += CELL_BYTES) take(readNumber(view, at), view.getInt32(at + DOC_BYTES));
}

function readNumber(view: DataView, at: number): number {
  return view.getUint32(at) * 0x1_0000_0000 + view.getUint32(at + 4);
}
