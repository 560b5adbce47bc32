import type { Collection } from '../../database/context.ts';
import type { Store } from '../context.ts';

/*
 * New words wait in the pending list of the index of words, and go in together: the more, the less work it is. Searches
 * for words look through this list. So it is long only while a commit applies many documents and no searches run.
 */

/** How long no search must have run before the pending list may be long. */
const QUIET_MILLISECONDS = 1_000;

/** Whether the pending list may be long for the documents that are applied now. */
export function usesLongPendingList({ engine, throttle }: Store): boolean {
  return engine.kind === 'postgres' && !throttle.isPausing && engine.sinceLastSearch() > QUIET_MILLISECONDS;
}

/** Puts the words of the pending list into the index. To be called before a commit shows their documents. */
export async function flushPendingList({ engine }: Store, { sqlSchema: S }: Collection): Promise<void> {
  if (engine.kind === 'pglite') return;
  await engine.query(
    `select gin_clean_pending_list(i.indexrelid) from pg_index i
       join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
       join pg_class t on t.oid = i.indrelid join pg_namespace n on n.oid = t.relnamespace
      where n.nspname = $1 and starts_with(t.relname, 'documents') and a.amname = 'gin' and c.relkind = 'i'`,
    [S],
    'bulk',
  );
}
