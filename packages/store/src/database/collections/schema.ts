import { type Field, type FieldType, PRECONFIGURED_FIELDS } from '@akin/domain';
import type { Collection, CollectionSchema, Column, Database } from '../context.ts';
import type { Queryable } from '../engine/engine.ts';
import { remembered } from '../memory.ts';
import { isColumn } from './collection-tables.ts';

const PRECONFIGURED_COLUMNS: Readonly<Record<string, Column>> = {
  id: { kind: 'column', sql: 'id', type: 'string' },
  image: { kind: 'column', sql: 'image', type: 'string' },
  labels: { kind: 'column', sql: 'labels', type: 'strings' },
  location: { kind: 'location', lat: 'lat', lon: 'lon' },
  text: { kind: 'words', sql: 'words' },
  _version_: { kind: 'version' },
};

export const schemasOf = remembered<CollectionSchema>();

/**
 * The fields of a collection. Cached until the version changes. A caller that read `schema_version` of the collection
 * in its own snapshot passes it, and gets the fields of exactly that version or of a newer one.
 *
 * @param tx reads the fields inside the caller's transaction
 */
export async function loadSchema(
  store: Database,
  collection: Collection,
  version?: number,
  tx?: Queryable,
): Promise<CollectionSchema> {
  const known = schemasOf(store).get(collection.id);
  if (known !== undefined && known.version >= (version ?? (await currentVersion(tx ?? store.engine, collection))))
    return known;
  const loaded = await readSchema(store, collection, tx ?? store.engine);
  const newest = schemasOf(store).get(collection.id);
  if (newest === undefined || newest.version < loaded.version) schemasOf(store).set(collection.id, loaded);
  return loaded;
}

async function currentVersion(tx: Queryable, collection: Collection): Promise<number> {
  const [row] = await tx.query<{ schema_version: number }>(
    'select schema_version from akin.collections where id = $1',
    [collection.id],
  );
  return row?.schema_version ?? 0;
}

interface FieldRow {
  version: number;
  name: string | null;
  type: FieldType;
  origin: 'analysis' | 'document';
  column: string;
}

/** One statement, so that version and fields belong together. Models only change in a collection without documents. */
async function readSchema(store: Database, collection: Collection, tx: Queryable): Promise<CollectionSchema> {
  const rows = await tx.query<FieldRow>(
    `select c.schema_version as version, f.name, f.type, f.origin, f."column"
       from akin.collections c left join ${collection.sqlSchema}.fields f on true
      where c.id = $1
      order by f.number`,
    [collection.id],
  );
  const made = await tx.query<{ module: string; model: string; calibration: string | null }>(
    `select module, model, calibration from ${collection.sqlSchema}.descriptor_counts where model is not null`,
  );
  const models = new Map(made.map(({ module, model }) => [module, model]));
  await store.modelSets.discover(models);
  const calibrations = new Map(
    made.flatMap(({ module, calibration }) => (calibration === null ? [] : [[module, JSON.parse(calibration)]])),
  );
  const fields = new Map<string, Field>(PRECONFIGURED_FIELDS.map((field) => [field.name, field]));
  const columns = new Map<string, Column>(Object.entries(PRECONFIGURED_COLUMNS));
  const bytes = new Set(
    store.modules.flatMap(({ outputs }) => outputs.filter((one) => one.isBytes).map(({ name }) => name)),
  );
  for (const { name: module, outputs } of store.modules) {
    for (const output of outputs) {
      fields.set(output.name, { ...output, origin: 'analysis' });
      if (!isColumn(output)) columns.set(output.name, { kind: 'output', module });
    }
  }
  for (const { name, type, origin, column } of rows) {
    if (name === null) continue;
    // A column of a module that this akin does not have stays, and is not used.
    if (origin === 'analysis' && !fields.has(name)) continue;
    if (origin === 'document') fields.set(name, { name, type, origin, returnedByDefault: true });
    columns.set(name, bytes.has(name) ? { kind: 'bytes', sql: column } : { kind: 'column', sql: column, type });
  }
  return { version: rows[0]?.version ?? 0, fields, columns, models, calibrations };
}
