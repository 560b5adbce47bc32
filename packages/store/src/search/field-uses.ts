import { notifyHousekeeping } from '../database/collections/collections.ts';
import type { UseKind } from '../database/collections/field-indexes.ts';
import type { Collection } from '../database/context.ts';
import { remembered } from '../database/memory.ts';
import type { SearchStore } from './context.ts';

/** Uses of columns of `documents` by a search that an index would speed up. */
export type FieldUses = Set<`${string} ${UseKind}`>;

/** The day on which each use of a column was last recorded. */
export const usesOf = remembered<Map<string, string>>();

/**
 * Records the uses of a search for the indexer, whichever process searched: once per day and use, not once per search.
 * For small collections, which need no indexes, nothing is recorded. A failure does not affect the result: a later
 * search tries again.
 */
export async function recordUses(
  store: SearchStore,
  collection: Collection,
  documents: bigint,
  keys: FieldUses,
): Promise<void> {
  if (keys.size === 0 || documents < store.indexedFrom) return;
  const today = new Date().toISOString().slice(0, 10);
  const known = usesOf(store).get(collection.id) ?? new Map<string, string>();
  usesOf(store).set(collection.id, known);
  const added = [...keys].filter((key) => known.get(key) !== today);
  if (added.length === 0) return;
  for (const key of added) known.set(key, today);
  try {
    await store.engine.query(
      `insert into ${collection.sqlSchema}.field_uses as u ("column", kind)
       select split_part(key, ' ', 1), split_part(key, ' ', 2) from unnest($1::text[]) key
       on conflict ("column", kind) do update set last_used_on = current_date where u.last_used_on < current_date`,
      [added],
    );
    await notifyHousekeeping(store.engine, collection);
  } catch {
    for (const key of added) known.delete(key);
  }
}

/**
 * Copies the uses of columns to a collection that will replace another one, so that it has its indexes from the start.
 * Fields with another type are left out.
 */
export async function copyUses(store: SearchStore, from: Collection, to: Collection): Promise<void> {
  const [S, T] = [from.sqlSchema, to.sqlSchema];
  await store.engine.query(
    `insert into ${T}.field_uses ("column", kind, first_used_at, last_used_on, values_too_long)
     select coalesce(t."column", u."column"), u.kind, u.first_used_at, u.last_used_on, u.values_too_long
       from ${S}.field_uses u
       -- Columns that every collection has, such as the id, are not in this table.
       left join ${S}.fields f on f."column" = u."column"
       left join ${T}.fields t on t.name = f.name and t.type = f.type
      where f.name is null or t.name is not null
     on conflict do nothing`,
  );
}
