import { AkinError, type StoredDocument } from '@akin/domain';
import { loadSchema } from '../collections/schema.ts';
import type { Collection, CollectionSchema, Store } from '../context.ts';
import type { Engine, Row } from '../engine/engine.ts';
import { keyFilterFor } from '../keys/key-filter.ts';
import { FRESHNESS_COLUMNS } from '../standbys/standbys.ts';
import { documentColumns, selectFields } from './hydrate.ts';
import { Params } from './params.ts';
import { PREPARED_FROM, requireCommit } from './snapshot.ts';
import { keyConditions } from './visible.ts';

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
  const { sqlSchema, id, name } = collection;
  const freshness = { atLeast, isCurrent: atLeast === undefined };
  let schema = store.memory.schemas.get(id) ?? (await loadSchema(store, collection));
  for (let isFirst = true; ; isFirst = false) {
    const tables = { sqlSchema, schema, modules: store.modules };
    const params = new Params();
    const fields = selectFields(tables, fieldsOf(schema));
    const { columns, joins, read } = documentColumns(store, tables, fields, [], params);
    const selected = ['c.*', 'd.doc', 'd.id as document_id', ...columns];
    // The number of documents for one value is known: that is planned once.
    const [only, ...others] = ids;
    const isOne = only !== undefined && others.length === 0;
    const matched = isOne ? `d.id = ${params.add(only, 'text')}` : `d.id = any(${params.add(ids, 'text[]')})`;
    const inside = keyConditions({ ...tables, key: keyFilterFor(store, schema.fields) }, params);
    const prepared = isOne && (store.memory.sizes.get(id) ?? 0n) >= PREPARED_FROM;
    const options = { timeoutMilliseconds: store.searchMilliseconds, prepared };
    const sql = `
      select ${selected.join(', ')}
        from (select ${FRESHNESS_COLUMNS}, name as collection_name, schema_version, documents from akin.collections
               where id = ${params.add(id, 'int4')}) c
        left join ${sqlSchema}.documents d
          on ${[matched, 'd.valid_from <= c.commit and c.commit < d.valid_to', ...inside].join(' and ')}
        ${joins}`;
    const readStandby = async (engine: Engine, require: (row: Row | undefined) => Promise<void>) => {
      const rows = await engine.read(sql, params.values, options);
      await require(rows[0]);
      return rows;
    };
    // A server with other fields than this process knows is not asked again.
    const found = isFirst ? await store.standbys.read(collection, freshness, readStandby) : undefined;
    const rows = found?.value ?? (await store.engine.read(sql, params.values, options));
    const [first] = rows;
    if (first === undefined) throw new AkinError('not-found', `The collection ${name} no longer exists.`);
    requireCommit(first, atLeast);
    store.memory.sizes.set(id, first.documents);
    if (first.collection_name !== name) return undefined;
    if (first.schema_version === schema.version) {
      const documents = new Map(rows.filter(({ doc }) => doc !== null).map((row) => [row.document_id, read(row)]));
      return new Map([...documents].map(([id, { document }]) => [id as string, document]));
    }
    // Fields were added since; they are read once.
    schema = await loadSchema(store, collection, first.schema_version);
    if (schema.version > first.schema_version) schema = await loadSchema(store, collection);
  }
}
