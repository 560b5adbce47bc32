import type { ModuleManifest } from '@akin/domain';
import type { Queryable } from '../engine/engine.ts';
import { checkedName, descriptorTable, isColumn } from './collection-tables.ts';
import { partitionTables, type Tables } from './shards.ts';
import { sqlType } from './sql-types.ts';

export async function createModuleTables(tx: Queryable, collection: Tables, module: ModuleManifest): Promise<void> {
  const { sqlSchema } = collection;
  if (module.descriptor !== undefined) {
    const table = descriptorTable(sqlSchema, module.name);
    const [there] = await tx.query<{ is: boolean }>(`select to_regclass('${table}') is not null as is`);
    if (!there?.is) {
      await tx.query(
        `create table ${table} (
           doc bigint primary key,
           vector halfvec(${module.descriptor.dimensions}) not null,
           -- Codes of the outputs that are no columns, as the module packs them.
           codes bytea not null
         ) with (vacuum_truncate = off)`,
      );
      await partitionTables(tx, collection, [`descriptors_${module.name}`]);
    }
    await tx.query(
      `insert into ${sqlSchema}.descriptor_counts (module, documents) values ($1, 0) on conflict (module) do nothing`,
      [module.name],
    );
  }
  for (const output of module.outputs.filter(isColumn)) {
    await tx.query(
      `alter table ${sqlSchema}.documents add column if not exists ${checkedName(output.name)} ${output.isBytes ? 'bytea' : sqlType(output.type)}`,
    );
    await tx.query(
      `insert into ${sqlSchema}.fields (number, name, type, origin, "column")
       select coalesce(max(number), 0) + 1, $1, $2, 'analysis', $1 from ${sqlSchema}.fields
       on conflict (name) do nothing`,
      [output.name, output.type],
    );
  }
}
