import type { Collection, Database } from '../context.ts';
import { goneError, REPLACED, requireNoSwap, type Swap } from './swap.ts';

/** Maximum number of documents and bytes of a collection. Null: no limit. */
export interface Quota {
  readonly maxDocuments: number | null;
  readonly maxBytes: number | null;
}

export const NO_QUOTA: Quota = { maxDocuments: null, maxBytes: null };

/** The columns of a quota in `akin.collections`. */
export interface QuotaRow {
  readonly max_documents: bigint | null;
  readonly max_bytes: bigint | null;
}

export function quotaOf({ max_documents, max_bytes }: QuotaRow): Quota {
  return {
    maxDocuments: max_documents === null ? null : Number(max_documents),
    maxBytes: max_bytes === null ? null : Number(max_bytes),
  };
}

/** @throws AkinError not-found if the collection was dropped; unavailable if a reindex has just replaced it */
export async function setQuota(store: Database, collection: Collection, quota: Quota): Promise<void> {
  const [row] = await store.engine.query<Pick<Swap, 'replaced'>>(
    `update akin.collections set max_documents = $2, max_bytes = $3 where id = $1
     returning ${REPLACED}`,
    [collection.id, quota.maxDocuments, quota.maxBytes],
  );
  if (row === undefined) throw goneError(collection);
  requireNoSwap(row);
}
