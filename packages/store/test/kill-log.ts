import { expect } from '@jest/globals';
import { listOperations, type Operation } from '../src/changes/accept/operations.ts';
import type { Store } from '../src/changes/context.ts';
import { collectionStatus } from '../src/database/collections/collections.ts';
import type { Collection } from '../src/database/context.ts';

/** A change that feeding.mjs sends while processes are killed. */
export type Sent =
  | { readonly id: string; readonly n: number; readonly group: number; readonly analyzed: boolean }
  /** An atomic update, which sets n. */
  | { readonly id: string; readonly updated: number }
  | { readonly deleted: string }
  | { readonly query: string };

/** The outcome of what was sent. */
export interface Log {
  /** Requests that were certainly accepted: first sequence number and changes. */
  readonly accepted: { readonly first: number; readonly sent: readonly Sent[] }[];
  /** Requests in progress at a kill: accepted as a whole or not at all. */
  readonly unknown: (readonly Sent[])[];
}

/** Compares the visible documents with the result of the visible operations. */
export async function checkVisible(store: Store, collection: Collection, log: Log): Promise<void> {
  const S = collection.sqlSchema;
  const operations = await allOperations(store, collection);
  const sent = assignNumbers(operations, log);

  const rows = await store.engine.query<{ id: string; n: bigint }>(`select id, n from ${S}.live_documents order by id`);
  expect(rows.map(({ id, n }) => [id, Number(n)])).toEqual(replay(operations, sent));
  expect((await collectionStatus(store, collection)).documents).toBe(rows.length);
  const [bare] = await store.engine.query<{ count: bigint }>(
    `select count(*) from ${S}.documents d left join ${S}.thumbnails o using (doc) left join ${S}.descriptors_tiny t using (doc)
      where o.doc is not null and t.doc is null`,
  );
  expect(bare?.count).toBe(0n);
}

export async function allOperations(store: Store, collection: Collection): Promise<Operation[]> {
  const operations: Operation[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await listOperations(store, collection, { after, limit: 1000 });
    operations.push(...page.operations);
    after = page.next;
  }
  return operations;
}

/**
 * Finds the sent change of each operation, and checks that each request exists as a whole or, if it was not answered,
 * not at all.
 */
function assignNumbers(operations: readonly Operation[], log: Log): Map<number, Sent> {
  expect(operations.map(({ seq }) => seq)).toEqual(operations.map((_, i) => i + 1));
  const sent = new Map<number, Sent>();
  const add = (first: number, changes: readonly Sent[]) => {
    for (const [i, change] of changes.entries()) sent.set(first + i, change);
  };
  for (const { first, sent: changes } of log.accepted) add(first, changes);
  for (const { seq, id } of operations) {
    if (sent.has(seq)) continue;
    // The first operation of a request that was never answered.
    add(seq, log.unknown.find((changes) => idOf(changes[0]) === id) ?? []);
  }
  expect([...sent.keys()].sort((a, b) => a - b)).toEqual(operations.map(({ seq }) => seq));
  for (const { seq, id } of operations) expect([seq, idOf(sent.get(seq))]).toEqual([seq, id]);
  return sent;
}

function idOf(change: Sent | undefined): string | null {
  if (change === undefined || 'query' in change) return null;
  return 'deleted' in change ? change.deleted : change.id;
}

/**
 * The visible documents that operations result in, in accepted order. Superseded ones count if a visible one came after
 * them: an atomic update may be based on them.
 */
function replay(operations: readonly Operation[], sent: ReadonlyMap<number, Sent>): [string, number][] {
  const lastVisible = new Map<string | null, number>();
  const waiting = new Map<string | null, number>();
  for (const { seq, id, state } of operations) {
    const change = sent.get(seq);
    if (state === 'visible') lastVisible.set(id, seq);
    else if (state === 'ready' && change !== undefined && 'updated' in change && !waiting.has(id)) waiting.set(id, seq);
  }
  const documents = new Map<string, { n: number; group?: number }>();
  for (const { seq, id, state } of operations) {
    const change = sent.get(seq);
    if (change === undefined || (state !== 'visible' && !(state === 'superseded' && seq < (lastVisible.get(id) ?? 0))))
      continue;
    if ('query' in change) {
      for (const [one, { n, group }] of documents) {
        // A delete by query skips documents that an earlier update will change.
        if ((waiting.get(one) ?? seq) < seq) continue;
        if (change.query.includes(`n:${n} `) || change.query.endsWith(`group:${group}`)) documents.delete(one);
      }
    } else if ('deleted' in change) documents.delete(change.deleted);
    else if ('updated' in change) documents.set(change.id, { ...documents.get(change.id), n: change.updated });
    else documents.set(change.id, { n: change.n, group: change.group });
  }
  return [...documents].map(([id, { n }]): [string, number] => [id, n]).sort(([x], [y]) => (x < y ? -1 : 1));
}
