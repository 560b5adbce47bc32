import { AkinError, type StoredDocument } from '@akin/domain';
import { descriptorTable } from '../database/collections/collection-tables.ts';
import type { Collection } from '../database/context.ts';
import { decodeHalfvec } from '../database/engine/binary.ts';
import type { Row } from '../database/engine/engine.ts';
import type { SearchStore } from './context.ts';
import { documentColumns, selectFields } from './hydrate.ts';
import { Params } from './params.ts';
import type { SearchResult } from './request.ts';
import { type Snapshot, withFewStatements } from './snapshot.ts';
import { visible } from './visible.ts';

/**
 * A visible document by its id.
 *
 * @param columns SQL over the row `d` of `documents` and those of `joins`
 */
export async function findDocument<R extends Row>(
  snapshot: Snapshot,
  id: string,
  columns: string,
  joins: string,
): Promise<R | undefined> {
  const params = new Params();
  const [row] = await snapshot.lookUp<R>(
    `select ${columns} from ${snapshot.sqlSchema}.documents d ${joins}
      where d.id = ${params.add(id, 'text')} and ${visible(snapshot, params)}`,
    params.values,
  );
  return row;
}

/**
 * The descriptor of a document by its id, as of the commit of the result.
 *
 * @returns null if the document has none of that module, undefined if there is no such document
 * @throws AkinError bad-request if no such module has descriptors
 */
export async function readDescriptor(
  snapshot: Snapshot,
  id: string,
  module: string,
): Promise<Float32Array | null | undefined> {
  const { sqlSchema, modules } = snapshot;
  if (modules.find(({ name }) => name === module)?.descriptor === undefined) {
    throw new AkinError('bad-request', `There is no descriptor of ${JSON.stringify(module)}.`);
  }
  const joins = `left join ${descriptorTable(sqlSchema, module)} v on v.doc = d.doc`;
  const row = await findDocument<{ vector: Buffer | null }>(snapshot, id, 'halfvec_send(v.vector) as vector', joins);
  if (row === undefined) return undefined;
  return row.vector && decodeHalfvec(row.vector);
}

export interface Thumbnail {
  readonly etag: string;
  /** WebP. */
  readonly bytes: Uint8Array;
}

/**
 * The thumbnail of a visible document by its id. @returns null if the document has none, undefined if there is no such
 * document
 */
export async function readThumbnail(
  store: SearchStore,
  collection: Collection,
  id: string,
): Promise<Thumbnail | null | undefined> {
  const read = async (snapshot: Snapshot) => {
    const joins = `left join ${snapshot.sqlSchema}.thumbnails t on t.doc = d.doc`;
    type Found = { bytes: Buffer | null; etag: string | null };
    const row = await findDocument<Found>(snapshot, id, 't.bytes, t.etag', joins);
    if (row === undefined) return { thumbnail: undefined };
    const { etag, bytes } = row;
    return { thumbnail: etag === null || bytes === null ? null : { etag, bytes } };
  };
  return (await withFewStatements(store, collection, read, { isCurrent: true })).thumbnail;
}

/**
 * Visible documents by their ids, in one statement.
 *
 * @param names the fields to return, as for a search
 * @param atLeast as for a search
 * @returns by id; ids without a visible document are missing. The collection is as for a search
 * @throws AkinError not-found if the collection was dropped
 */
export async function getDocuments(
  store: SearchStore,
  collection: Collection,
  ids: readonly string[],
  names: readonly string[],
  atLeast?: bigint,
): Promise<{ readonly documents: ReadonlyMap<string, StoredDocument> } & Pick<SearchResult, 'collection'>> {
  const work = async (snapshot: Snapshot) => {
    const params = new Params();
    const fields = selectFields(snapshot, names);
    const { columns, joins, read } = documentColumns(store, snapshot, fields, [], params);
    // The number of documents for one value is known: that is planned once.
    const [only, ...others] = ids;
    const isOne = only !== undefined && others.length === 0;
    const matched = isOne ? `d.id = ${params.add(only, 'text')}` : `d.id = any(${params.add(ids, 'text[]')})`;
    const ask = isOne ? snapshot.lookUp : snapshot.tx.query;
    const rows = await ask<{ document_id: string }>(
      `select ${['d.id as document_id', ...columns].join(', ')} from ${snapshot.sqlSchema}.documents d ${joins}
        where ${matched} and ${visible(snapshot, params)}`,
      params.values,
    );
    const documents = new Map(rows.map((row) => [row.document_id, read(row).document]));
    return { documents, collection: { name: snapshot.name, schemaVersion: snapshot.schema.version } };
  };
  // Bulk work does not pause for a few documents.
  const freshness = { atLeast, isCurrent: atLeast === undefined, isBackground: true };
  return withFewStatements(store, collection, work, freshness);
}
