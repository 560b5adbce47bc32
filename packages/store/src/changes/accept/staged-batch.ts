import { descriptorTable } from '../../database/collections/collection-tables.ts';
import { modelSetOf } from '../../database/collections/model-set.ts';
import { requireSameModels } from '../../database/collections/models.ts';
import { newDocSql } from '../../database/collections/shards.ts';
import type { Collection, CollectionSchema } from '../../database/context.ts';
import { docsOf, textArray } from '../../database/engine/binary.ts';
import { CopyRows, type NumberOffset } from '../../database/engine/copy-rows.ts';
import type { CopyIn } from '../../database/engine/engine.ts';
import type { ParsedOutputs } from '../../database/model-sets.ts';
import { codesOf, etagOf, halfvecOf } from '../../database/outputs/descriptor-rows.ts';
import { modelsIn, writeAnalysis } from '../../database/outputs/pending-analysis.ts';
import type { Store } from '../context.ts';
import type { Row } from './staged-rows.ts';

const OPERATIONS = [
  ...['request', 'position', 'kind', 'id', 'doc', 'document', 'analysis', 'modules', 'state', 'host', 'atomic'],
  ...['expected_version', 'kept_version', 'bytes'],
];
const DESCRIPTORS = ['doc', 'vector', 'codes'];
const THUMBNAILS = ['doc', 'bytes', 'etag'];

/** Where rows in memory contain the number of a document, which is drawn only when its batch is written. */
interface DocOffsets {
  readonly operation: NumberOffset;
  /** In the rows of each module of which it has a descriptor. */
  readonly descriptors: [rows: CopyRows, offset: NumberOffset][];
  thumbnail?: NumberOffset;
}

/**
 * Changes that are written together. Each becomes a row in the format of COPY at once: the changes themselves are not
 * kept.
 */
export class StagedBatch {
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #schema: CollectionSchema;
  readonly #operations = new CopyRows();
  /** By module. */
  readonly #descriptors = new Map<string, CopyRows>();
  readonly #thumbnails = new CopyRows();
  readonly #requests: NumberOffset[] = [];
  readonly #docs: DocOffsets[] = [];
  /** Ids of the documents, in the order of `#docs`. */
  readonly #ids: string[] = [];
  #bytes = 0;

  /** @param schema with the models of the collection */
  constructor(store: Store, collection: Collection, schema: CollectionSchema) {
    this.#store = store;
    this.#collection = collection;
    this.#schema = schema;
  }

  get count(): number {
    return this.#requests.length;
  }

  get adds(): number {
    return this.#docs.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @param bytes its approximate size @param position the position in the request */
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
    rows.text(row.outputs && this.#analysisOf(row.outputs));
    rows.text(row.modules);
    rows.text(row.state);
    rows.text(row.host);
    rows.boolean(row.atomic);
    rows.long(row.expected);
    rows.long(row.kept);
    rows.int(bytes);
    if (row.kind !== 'add') return;
    const offsets: DocOffsets = { operation, descriptors: [] };
    this.#docs.push(offsets);
    this.#ids.push(row.id ?? '');
    for (const [module, descriptor] of row.outputs?.descriptors ?? []) {
      const rows = this.#descriptors.get(module) ?? new CopyRows();
      this.#descriptors.set(module, rows);
      rows.row(DESCRIPTORS.length);
      offsets.descriptors.push([rows, rows.long(0n)]);
      rows.binary(halfvecOf(descriptor));
      rows.binary(codesOf(descriptor));
    }
    if (row.thumbnail !== null) offsets.thumbnail = this.#addThumbnail(row.thumbnail);
  }

  /** @throws AkinError conflict if the models of the outputs are not those of the collection */
  #analysisOf(outputs: ParsedOutputs): string {
    const models = modelsIn(outputs, modelSetOf(this.#store, this.#schema).models);
    requireSameModels(this.#schema, models);
    return writeAnalysis(outputs, this.#store.modules, models);
  }

  #addThumbnail(thumbnail: Uint8Array): NumberOffset {
    const rows = this.#thumbnails;
    rows.row(THUMBNAILS.length);
    const doc = rows.long(0n);
    rows.binary(thumbnail);
    rows.text(etagOf(thumbnail));
    return doc;
  }

  async write(request: bigint): Promise<void> {
    const { engine } = this.#store;
    const { sqlSchema: S } = this.#collection;
    const docs = await this.#drawDocs();
    for (const offset of this.#requests) this.#operations.setLong(offset, request);
    for (const [i, { operation, descriptors, thumbnail }] of this.#docs.entries()) {
      const doc = docs[i] as bigint;
      this.#operations.setLong(operation, doc);
      for (const [rows, offset] of descriptors) rows.setLong(offset, doc);
      if (thumbnail !== undefined) this.#thumbnails.setLong(thumbnail, doc);
    }
    const copies: CopyIn[] = [
      ...Array.from(this.#descriptors, ([module, rows]) => ({
        into: `${descriptorTable(S, module)} (${DESCRIPTORS})`,
        rows,
      })),
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
    return docsOf(rows);
  }
}
