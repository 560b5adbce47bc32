/*
 * The names that entry 20 of the tables of a collection changes. An akin before entry 17 that opened the collection
 * later may have written its own version again. So each change is left out if it was made before.
 */

type Renamed = readonly [table: string, from: string, to: string];

const TABLES: readonly (readonly [from: string, to: string])[] = [
  ['failures', 'failure_counts'],
  ['grouping', 'grouping_state'],
];

const INDEXES: readonly (readonly [from: string, to: string])[] = [
  ['barriers_waiting', 'barriers_skipped_ids'],
  ['representatives_gone', 'representatives_removed'],
];

/** By the new names of their tables. */
const COLUMNS: readonly Renamed[] = [
  ['documents', 'repeats', 'has_repeated_values'],
  ['operations', 'failures', 'failed_attempts'],
  ['requests', 'tombstones', 'leaves_tombstones'],
  ['requests', 'trace', 'traceparent'],
  ['commits', 'at', 'committed_at'],
  ['barriers', 'waiting', 'skipped_ids'],
  ['barriers', 'tombstones', 'leaves_tombstones'],
  ['failure_counts', 'change', 'delta'],
  ['field_uses', 'form', 'kind'],
  ['field_uses', 'since', 'first_used_at'],
  ['field_uses', 'used_on', 'last_used_on'],
  ['field_uses', 'refused', 'values_too_long'],
  ['grouping_state', 'as_of', 'as_of_commit'],
  ['grouping_state', 'target', 'target_commit'],
  ['grouping_state', 'doc', 'last_doc'],
  ['decisions', 'a', 'id'],
  ['decisions', 'b', 'other_id'],
  ['representatives', 'followers', 'follower_count'],
  ['representatives', 'gone', 'removed'],
];

/** SQL of entry 20. */
export function renameSql(S: string): string {
  const tables = TABLES.map(([from, to]) => `alter table if exists ${S}.${from} rename to ${to};`);
  const indexes = INDEXES.map(([from, to]) => `alter index if exists ${S}.${from} rename to ${to};`);
  return `do $$ begin
    ${[...tables, ...indexes, ...COLUMNS.map((column) => renameColumn(S, column))].join('\n    ')}
    if exists (select from pg_constraint
                where conrelid = '${S}.field_uses'::regclass and conname = 'field_uses_form_check') then
      alter table ${S}.field_uses rename constraint field_uses_form_check to field_uses_kind_check;
    end if;
  end $$`;
}

function renameColumn(S: string, [table, from, to]: Renamed): string {
  return `if exists (select from pg_attribute
                where attrelid = '${S}.${table}'::regclass and attname = '${from}' and not attisdropped) then
      alter table ${S}.${table} rename column ${from} to ${to};
    end if;`;
}
