import type { StoredDocument } from '@akin/domain';
import type { Collection, CollectionSchema, Store } from '../context.ts';
import { documentColumns, selectFields } from './hydrate.ts';
import { Params } from './params.ts';
import { type Snapshot, withFewStatements } from './snapshot.ts';
import { visible } from './visible.ts';

/**
 * Visible documents by their ids, in one statement.
 *
 * @param fieldsOf names the fields to return, as searches do, for a version of the schema
 * @param atLeast as for a search
 * @returns by id; ids without a visible document are missing. Undefined if another collection has the name now
 * @throws AkinError not-found if the collection was dropped
 */
export async function getDocuments(
  store: Store,
  collection: Collection,
  ids: readonly string[],
  fieldsOf: (schema: CollectionSchema) => readonly string[],
  atLeast?: bigint,
): Promise<ReadonlyMap<string, StoredDocument> | undefined> {
  const work = async (snapshot: Snapshot) => {
    const params = new Params();
    const fields = selectFields(snapshot, fieldsOf(snapshot.schema));
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
    return { documents, isOfName: snapshot.name === collection.name };
  };
  // Bulk work does not pause for a few documents.
  const freshness = { atLeast, isCurrent: atLeast === undefined, isBackground: true };
  const { documents, isOfName } = await withFewStatements(store, collection, work, freshness);
  return isOfName ? documents : undefined;
}
