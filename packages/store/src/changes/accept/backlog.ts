import type { Collection } from '../../database/context.ts';
import type { Store } from '../context.ts';

export interface Backlog {
  /** Pictures that wait for analysis. */
  readonly analyses: number;
  /** Changes that are not applied, including those that wait for their analysis. */
  readonly changes: number;
}

/**
 * Counts the waiting changes of a collection, as exactly as a comparison with limits needs. While all unfinished
 * requests together have no more changes than either limit, the number of their changes is returned, although some may
 * be done. Counting stops beyond the limits.
 */
export async function readBacklog(store: Store, { sqlSchema: S }: Collection, limits: Backlog): Promise<Backlog> {
  const [open] = await store.engine.query<{ changes: number }>(
    `select coalesce(sum(count), 0)::float8 as changes from ${S}.requests where not finished and first_seq is not null`,
  );
  const most = open?.changes ?? 0;
  if (most <= Math.min(limits.analyses, limits.changes)) return { analyses: most, changes: most };
  const counted = (state: string, limit: string) =>
    `(select count(*)::float8 from (select from ${S}.operations where state = '${state}' limit ${limit}) counted)`;
  const [row] = await store.engine.transaction(
    (tx) =>
      tx.query<{ analyses: number; ready: number }>(
        `select ${counted('queued', '$1')} + ${counted('analyzing', '$1')} as analyses, ${counted('ready', '$2')} as ready`,
        [Math.ceil(limits.analyses) + 1, Math.ceil(limits.changes) + 1],
      ),
    { keyed: true },
  );
  const { analyses = 0, ready = 0 } = row ?? {};
  return { analyses, changes: analyses + ready };
}
