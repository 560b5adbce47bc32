import type { Collection, Store } from '../context.ts';

/**
 * When the oldest change that is not visible yet was accepted: now, if all of them are applied and only have to be
 * published. Undefined if all are visible.
 */
export async function oldestInvisibleChange(store: Store, { id, sqlSchema: S }: Collection): Promise<Date | undefined> {
  const [row] = await store.engine.query<{ at: Date | null }>(
    `select coalesce(
       (select accepted_at from ${S}.requests where not finished and first_seq is not null order by first_seq limit 1),
       (select now() from akin.collections where id = $1 and unpublished_operations > 0)) as at`,
    [id],
  );
  return row?.at ?? undefined;
}
