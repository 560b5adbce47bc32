import {
  AkinError,
  Double,
  type FieldType,
  type FieldValue,
  type Query,
  type StoredDocument,
  stringifyJson,
  VERSION_FIELD,
} from '@akin/domain';
import { VERSION } from '../../database/collections/collection-tables.ts';
import { type Pin, pinCommit, removePin, renewPin } from '../../database/collections/pins.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import type { Collection } from '../../database/context.ts';
import type { SearchStore } from '../context.ts';
import { expandWords } from '../expand-words.ts';
import { readDocuments } from '../hydrate.ts';
import { conditionsOf } from '../matching.ts';
import { Params } from '../params.ts';
import { type Snapshot, withSnapshot } from '../snapshot.ts';

export interface ExportRequest {
  readonly query: Query;
  readonly filters: readonly Query[];
  readonly timeZone?: string;
  readonly rows: number;
  /** The page ends after the document that reaches this number of bytes. */
  readonly bytes: number;
  /** The `next` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** A document with everything needed to store it again. */
export interface ExportedDocument {
  /** Its fields, except those from the analysis. */
  readonly fields: StoredDocument;
  /** The text of the outputs, as an analysis writes it. Null if there are none. */
  readonly outputs: string | null;
  readonly thumbnail: Uint8Array | null;
  readonly version: bigint;
}

export interface ExportPage {
  /** The commit of all pages of this export. */
  readonly commit: number;
  readonly documents: readonly ExportedDocument[];
  /** Absent on the last page. */
  readonly next?: string;
}

const CHUNK = 100;
/** Bytes of the names of fields and of JSON's syntax in a document. */
const JSON_BYTES = 200;

interface Cursor {
  readonly pin: Pin;
  readonly now: number;
  readonly doc: bigint;
}

/**
 * A page of the matching documents, shard by shard in the order of their arrival. All pages that follow from one first
 * page are from one commit: its rows are kept as long as the next page is requested within ten minutes.
 *
 * @throws AkinError bad-request for a foreign cursor or a query that cannot be answered; conflict if the previous page
 * was read too long ago
 */
export async function exportDocuments(
  store: SearchStore,
  collection: Collection,
  request: ExportRequest,
): Promise<ExportPage> {
  const { cursor } = request;
  if (cursor !== undefined) return readPage(store, collection, request, await resumeExport(store, collection, cursor));
  const from = { pin: await pinCommit(store, collection), now: Date.now(), doc: -1n };
  try {
    return await readPage(store, collection, request, from);
  } catch (error) {
    // Nobody gets a cursor that needs it.
    await removePin(store, from.pin).catch(() => undefined);
    throw error;
  }
}

async function readPage(
  store: SearchStore,
  collection: Collection,
  request: ExportRequest,
  from: Cursor,
): Promise<ExportPage> {
  const documents: ExportedDocument[] = [];
  let bytes = 0;
  let { doc } = from;
  while (documents.length < request.rows && bytes < request.bytes) {
    const limits = { rows: Math.min(CHUNK, request.rows - documents.length), bytes: request.bytes - bytes };
    const chunk = await withSnapshot(store, collection, (snapshot) =>
      readChunk(snapshot, request, { ...from, doc }, limits),
    );
    documents.push(...chunk.documents);
    doc = chunk.last ?? doc;
    bytes += chunk.bytes;
    if (chunk.isLast) {
      await removePin(store, from.pin);
      return { commit: Number(from.pin.commit), documents };
    }
  }
  return { commit: Number(from.pin.commit), documents, next: writeCursor(collection, { ...from, doc }) };
}

/** The types of the fields that clients defined: they are needed before the documents can be stored again. */
export async function definedFields(store: SearchStore, collection: Collection): Promise<Map<string, FieldType>> {
  const { fields } = await loadSchema(store, collection);
  return new Map(
    [...fields.values()].filter(({ origin }) => origin === 'document').map(({ name, type }) => [name, type]),
  );
}

async function readChunk(
  shown: Snapshot,
  { query, filters, timeZone = 'UTC' }: ExportRequest,
  { pin, now, doc }: Cursor,
  limits: { readonly rows: number; readonly bytes: number },
): Promise<{
  readonly documents: ExportedDocument[];
  readonly last: bigint | undefined;
  readonly bytes: number;
  readonly isLast: boolean;
}> {
  const snapshot = { ...shown, commit: pin.commit, clock: { now: new Date(now), timeZone } };
  const { tx, sqlSchema: S } = snapshot;
  const search = { query, filters, rows: limits.rows };
  await expandWords(search, snapshot);
  const params = new Params();
  const { where } = conditionsOf(search, snapshot, params);
  const found = await tx.query<{ doc: bigint; bytes: number }>(
    `select d.doc, d.bytes from ${S}.documents d
      where ${where} and d.doc > ${params.add(doc, 'int8')} order by d.doc limit ${params.add(limits.rows, 'int8')}`,
    params.values,
  );
  // Documents beyond the page are not read at all: each may be large.
  const docs: bigint[] = [];
  let bytes = 0;
  for (const one of found) {
    if (bytes >= limits.bytes) break;
    docs.push(one.doc);
    bytes += one.bytes + JSON_BYTES;
  }
  const isLast = found.length < limits.rows && docs.length === found.length;
  return { documents: await readExported(snapshot, docs), last: docs.at(-1), bytes, isLast };
}

/** Documents by their numbers, in that order. */
export async function readExported(snapshot: Snapshot, docs: readonly bigint[]): Promise<ExportedDocument[]> {
  const { store, tx, sqlSchema: S } = snapshot;
  const rows = await tx.query<{ doc: bigint; version: bigint; thumbnail: Buffer | null }>(
    `select d.doc, ${VERSION} as version, t.bytes as thumbnail
       from ${S}.documents d
       left join ${S}.thumbnails t on t.doc = d.doc
      where d.doc = any($1::bigint[])
      order by d.doc`,
    [docs],
  );
  const { fields } = snapshot.schema;
  const wanted = [...fields.values()].filter(({ name, type }) => type !== 'text' && name !== VERSION_FIELD);
  const documents = await readDocuments(store, snapshot, docs, wanted, [], true);
  return rows.map(({ doc, version, thumbnail }) => {
    const all = [...(documents.get(doc)?.document ?? [])];
    const outputs = new Map(all.filter(([name]) => fields.get(name)?.origin === 'analysis'));
    return {
      fields: new Map(all.filter(([name]) => !outputs.has(name))),
      outputs: outputs.size === 0 ? null : writeOutputs(outputs),
      thumbnail,
      version,
    };
  });
}

/** The text of outputs, in the order of their modules. */
function writeOutputs(outputs: StoredDocument): string {
  // Decimal numbers are written with a fraction even if they are whole, as by the analysis.
  const written = (value: FieldValue) => (typeof value === 'number' ? new Double(value) : value);
  return stringifyJson(
    new Map(Array.from(outputs, ([name, value]) => [name, Array.isArray(value) ? value.map(written) : written(value)])),
  );
}

async function resumeExport(store: SearchStore, collection: Collection, text: string): Promise<Cursor> {
  const cursor = readCursor(collection, text);
  if (await renewPin(store, collection, cursor.pin)) return cursor;
  throw new AkinError(
    'conflict',
    'The previous page was read more than ten minutes ago, and its commit is no longer kept. Start again without a cursor.',
  );
}

const FORM = /^export1 (\d{1,10}) (\d{1,15}) (\d{1,18}) (\d{1,15}) (-?\d{1,18})$/;

function writeCursor({ id }: Collection, { pin, now, doc }: Cursor): string {
  return Buffer.from(`export1 ${id} ${pin.id} ${pin.commit} ${now} ${doc}`).toString('base64url');
}

function readCursor(collection: Collection, text: string): Cursor {
  const [, id, pin = '', commit = '', now, doc = ''] = FORM.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (Number(id) !== collection.id) {
    throw new AkinError('bad-request', 'Parameter cursor must be the cursor from an export of this collection.');
  }
  return { pin: { id: Number(pin), commit: BigInt(commit) }, now: Number(now), doc: BigInt(doc) };
}
