import type { Queryable } from '../engine/engine.ts';

/** The number of the last commit of a collection. 0 before the first one, or if the collection was dropped. */
export async function currentCommit(tx: Queryable, { id }: { readonly id: number }): Promise<bigint> {
  const [row] = await tx.query<{ commit: bigint }>('select commit from akin.collections where id = $1', [id]);
  return row?.commit ?? 0n;
}
