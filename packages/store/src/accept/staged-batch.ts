import { hash } from 'node:crypto';
import { newDocSql } from '../collections/shards.ts';
import type { Collection, Store } from '../context.ts';
import { textArray } from '../engine/binary.ts';
import { CopyRows, type NumberOffset } from '../engine/copy-rows.ts';
import type { Row } from './staged-rows.ts';

const OPERATIONS = [
  ...['request', 'position', 'kind', 'id', 'doc', 'document', 'modules', 'state', 'host', 'atomic'],
  ...['expected_version', 'kept_version', 'bytes'],
];
// Both tables have the same columns but for two names, see addContents.
const OUTPUTS = ['doc', 'json', 'mark'];
const THUMBNAILS = ['doc', 'bytes', 'etag'];

/** Where rows in memory contain the number of a document, which is drawn only when its batch is written. */
interface DocOffsets {
  readonly operation: NumberOffset;
  outputs?: NumberOffset;
  thumbnail?: NumberOffset;
}

/**
 * Changes that are written together. Each becomes a row in the format of COPY at once: the changes themselves are not
 * kept.
 */
export class StagedBatch {
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #operations = new CopyRows();
  readonly #outputs = new CopyRows();
  readonly #thumbnails = new CopyRows();
  readonly #requests: NumberOffset[] = [];
  readonly #docs: DocOffsets[] = [];
  /** Ids of the documents, in the order of `#docs`. */
  readonly #ids: string[] = [];
  #bytes = 0;

  constructor(store: Store, collection: Collection) {
    this.#store = store;
    this.#collection = collection;
  }

  /** Number of changes. */
  get count(): number {
    return this.#requests.length;
  }

  /** Number of documents. */
  get adds(): number {
    return this.#docs.length;
  }

  /** Approximate bytes of the changes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a change. @param bytes its approximate size @param position the position in the request */
  add(row: Row, bytes: number, position: number): void {
    this.#bytes += bytes;
    const rows = this.#operations;
    rows.row(OPERATIONS.length);
    this.#requests.push(rows.long(0n));
    rows.int(position);
    rows.text(row.kind);
    rows.text(row.id);
    const operation = rows.long(row.kind === 'add' ? 0n : null);
    rows.text(row.document);
    rows.text(row.modules);
    rows.text(row.state);
    rows.text(row.host);
    rows.boolean(row.atomic);
    rows.long(row.expected);
    rows.long(row.kept);
    rows.int(bytes);
    if (row.kind !== 'add') return;
    const offsets: DocOffsets = { operation };
    this.#docs.push(offsets);
    this.#ids.push(row.id ?? '');
    const { outputs, thumbnail, mark } = row;
    if (outputs !== null) offsets.outputs = addContents(this.#outputs, outputs, mark);
    if (thumbnail !== null) offsets.thumbnail = addContents(this.#thumbnails, thumbnail, etagOfBytes(thumbnail));
  }

  /** Adds the rows to the tables, in one transaction. */
  async write(request: bigint): Promise<void> {
    const { engine } = this.#store;
    const { sqlSchema: S } = this.#collection;
    const docs = await this.#drawDocs();
    for (const offset of this.#requests) this.#operations.setLong(offset, request);
    for (const [i, { operation, outputs, thumbnail }] of this.#docs.entries()) {
      const doc = docs[i] as bigint;
      this.#operations.setLong(operation, doc);
      if (outputs !== undefined) this.#outputs.setLong(outputs, doc);
      if (thumbnail !== undefined) this.#thumbnails.setLong(thumbnail, doc);
    }
    const copies = [
      { into: `${S}.outputs (${OUTPUTS})`, rows: this.#outputs },
      { into: `${S}.thumbnails (${THUMBNAILS})`, rows: this.#thumbnails },
      { into: `${S}.operations (${OPERATIONS})`, rows: this.#operations },
    ];
    await engine.copyIn(
      copies.filter(({ rows }) => rows.count > 0),
      { lane: 'bulk' },
    );
    for (const { rows } of copies) rows.release();
  }

  async #drawDocs(): Promise<bigint[]> {
    if (this.#ids.length === 0) return [];
    const rows = await this.#store.engine.query<{ doc: bigint }>(
      `select ${newDocSql(this.#collection, 'id')} as doc from unnest($1::text[]) as t (id)`,
      [textArray(this.#ids)],
      'bulk',
    );
    return rows.map(({ doc }) => doc);
  }
}

/**
 * Adds a row of outputs or of a thumbnail.
 *
 * @param mark the mark of the outputs, or the ETag of the thumbnail
 * @returns the offset of its `doc`
 */
function addContents(rows: CopyRows, contents: string | Uint8Array, mark: string | null): NumberOffset {
  rows.row(OUTPUTS.length);
  const doc = rows.long(0n);
  if (typeof contents === 'string') rows.text(contents);
  else rows.binary(contents);
  rows.text(mark);
  return doc;
}

/** The same as the SQL of `etagOf`. */
function etagOfBytes(thumbnail: Uint8Array): string {
  return hash('sha256', thumbnail, 'hex').slice(0, 32);
}
