import type { Collection } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { forgetDecisions } from './decisions.ts';
import { lockState } from './state.ts';

/**
 * Takes documents that no search sees out of their groups, by their numbers; others are skipped. A representative that
 * leaves is only marked, however many documents follow it: each of them finds another group later (see
 * `update-groups.ts`).
 */
export async function removeFromGroups(tx: Queryable, collection: Collection, docs: readonly bigint[]): Promise<void> {
  if (docs.length === 0) return;
  const S = collection.sqlSchema;
  await lockState(tx, collection);
  await tx.query(
    `with gone as (delete from ${S}.followers where doc = any($1::bigint[]) returning representative),
          counts as (select representative, count(*)::int as count from gone group by representative)
     update ${S}.representatives r set follower_count = r.follower_count - c.count
       from counts c where r.doc = c.representative`,
    [docs],
  );
  await tx.query(`delete from ${S}.representatives where doc = any($1::bigint[]) and follower_count = 0`, [docs]);
  await tx.query(`update ${S}.representatives set removed = true where doc = any($1::bigint[])`, [docs]);
  await tx.query(`delete from ${S}.ungrouped where doc = any($1::bigint[])`, [docs]);
  await forgetDecisions(tx, S, docs);
}
