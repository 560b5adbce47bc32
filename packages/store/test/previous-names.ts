import type { Collection, Store } from '../src/context.ts';

/** Before entry 16 of the shared tables: table, name, previous name. */
const SHARED = [
  ['leases', 'expires_at', 'until'],
  ['leases', 'has_models', 'fits'],
  ['lease_holders', 'expires_at', 'until'],
  ['pins', 'expires_at', 'until'],
  ['shard_leases', 'expires_at', 'until'],
  ['shard_leases', 'end_seq', 'below'],
  ['commit_requests', 'requested', 'asked'],
  ['commit_requests', 'completed', 'done'],
  ['reindexes', 'holder', 'worker'],
  ['reindexes', 'heartbeat_at', 'beat_at'],
  ['search_times', 'updated_at', 'at'],
  ['runs', 'reported_at', 'told_at'],
  ['collections', 'predecessor', 'replaces'],
] as const;

/** Before entry 20 of the tables of a collection. */
const OF_COLLECTION = [
  ['documents', 'has_repeated_values', 'repeats'],
  ['operations', 'failed_attempts', 'failures'],
  ['requests', 'leaves_tombstones', 'tombstones'],
  ['requests', 'traceparent', 'trace'],
  ['commits', 'committed_at', 'at'],
  ['barriers', 'skipped_ids', 'waiting'],
  ['barriers', 'leaves_tombstones', 'tombstones'],
  ['failure_counts', 'delta', 'change'],
  ['field_uses', 'kind', 'form'],
  ['field_uses', 'first_used_at', 'since'],
  ['field_uses', 'last_used_on', 'used_on'],
  ['field_uses', 'values_too_long', 'refused'],
  ['grouping_state', 'as_of_commit', 'as_of'],
  ['grouping_state', 'target_commit', 'target'],
  ['grouping_state', 'last_doc', 'doc'],
  ['decisions', 'id', 'a'],
  ['decisions', 'other_id', 'b'],
  ['representatives', 'follower_count', 'followers'],
  ['representatives', 'removed', 'gone'],
] as const;

export const RENAMED_TABLES: ReadonlySet<string> = new Set([...SHARED, ...OF_COLLECTION].map(([table]) => table));

/** Gives the shared tables the names of version 15. */
export async function usePreviousSharedNames({ engine }: Store): Promise<void> {
  for (const [table, name, previous] of SHARED) {
    await engine.query(`alter table akin.${table} rename column ${name} to ${previous}`);
  }
  await engine.query('delete from akin.migrations where number >= 16');
}

/** Gives the tables of a collection the names of version 19. */
export async function usePreviousNames({ engine }: Store, { id, sqlSchema: S }: Collection): Promise<void> {
  for (const [table, name, previous] of OF_COLLECTION) {
    await engine.query(`alter table ${S}.${table} rename column ${name} to ${previous}`);
  }
  for (const sql of [
    `alter table ${S}.failure_counts rename to failures`,
    `alter table ${S}.grouping_state rename to grouping`,
    `alter table ${S}.field_uses rename constraint field_uses_kind_check to field_uses_form_check`,
    `alter index ${S}.barriers_skipped_ids rename to barriers_waiting`,
    `alter index ${S}.representatives_removed rename to representatives_gone`,
  ]) {
    await engine.query(sql);
  }
  await engine.query('update akin.collections set tables_version = 19 where id = $1', [id]);
}
