import type { Span } from '@akin/runtime';
import { shardsOf } from '../../database/collections/shards.ts';
import { BULK } from '../../database/engine/engine.ts';
import { finishRequests } from '../accept/requests.ts';
import { Applier } from './applier.ts';
import { applyShards } from './apply-shards.ts';
import type { CommitContext } from './commit-context.ts';
import { BEFORE_ALL, nextReady, type ReadyOperation, type UnfinishedRequest } from './ready-operations.ts';
import { flushPendingList } from './words-index.ts';

const MAX_LINKS = 100;

interface Progress {
  readonly applier: Applier;
  /** Operations with numbers up to this one are done, or not ready. */
  after: bigint;
  /** Only operations with lower numbers are applied. */
  readonly endSeq: bigint;
  /**
   * Number of operations since the last delete by query. Minus infinity after all shards were applied up to the next
   * one.
   */
  count: number;
  /** Whether the commit is so large that new words may wait in the list of their index. */
  isLarge: boolean;
}

/**
 * Applies ready operations, in accepted order. In a collection with several shards, only as many as a small commit has:
 * for more, the shards are applied in parallel.
 *
 * @param pages the pages of unfinished requests
 * @param endSeq only operations with lower numbers are applied
 * @param span gets links to the requests with applied operations
 */
export async function applyReady(
  context: CommitContext,
  pages: AsyncIterable<readonly UnfinishedRequest[]>,
  endSeq: bigint,
  span: Span,
): Promise<void> {
  const { store, collection, slot } = context;
  const applier = new Applier(context);
  const progress = { applier, after: BEFORE_ALL, endSeq, count: 0, isLarge: false };
  let links = 0;
  let isFirst = true;
  try {
    for await (const page of pages) {
      if (!isFirst && slot.isWanted) await slot.yield();
      isFirst = false;
      const requests = page.map(({ request }) => request);
      const touched = await applyPage(context, page, progress);
      await applier.applied();
      await store.engine.transaction((tx) => finishRequests(tx, collection, requests), BULK);
      for (const { request, traceparent } of page) {
        if (traceparent === null || links === MAX_LINKS || !touched.has(request)) continue;
        span.link(traceparent);
        links++;
      }
    }
  } finally {
    // No transaction of a commit continues after its end.
    await applier.applied();
  }
  if (progress.isLarge) await flushPendingList(store, collection);
}

/** @returns the requests with applied or failed operations */
async function applyPage(
  context: CommitContext,
  page: readonly UnfinishedRequest[],
  progress: Progress,
): Promise<ReadonlySet<bigint>> {
  const { store, collection, slot } = context;
  const { applier, endSeq } = progress;
  const touched = new Set<bigint>();
  const isSharded = store.engine.kind === 'postgres' && shardsOf(collection) > 1;
  for (let isMore = true, isFirst = true; isMore; isFirst = false) {
    // Here no operations are in memory while other commits run.
    if (!isFirst && slot.isWanted) await applier.pass();
    context.signal?.throwIfAborted();
    await store.engine.disk?.requireSpace('work');
    if (isSharded && progress.count >= store.shardsFrom) {
      await applier.applied();
      progress.after = (await applyShards({ ...context, batchSize: applier.batchSize }, progress)) - 1n;
      progress.isLarge = true;
      progress.count = Number.NEGATIVE_INFINITY;
    }
    for (const { request, first_seq } of page) if (first_seq <= progress.after) touched.add(request);
    const limit = isSharded ? Math.min(applier.rows, Math.max(1, store.shardsFrom - progress.count)) : applier.rows;
    const operations = await nextReady(store, collection, page, { after: progress.after, endSeq }, limit);
    isMore = operations.length === limit;
    progress.isLarge ||= isMore;
    for (const { request, seq } of operations) {
      touched.add(request);
      progress.after = seq;
    }
    await applyRuns(context, operations, progress);
  }
  return touched;
}

async function applyRuns(
  { slot }: CommitContext,
  operations: readonly ReadyOperation[],
  progress: Progress,
): Promise<void> {
  const { applier } = progress;
  for (const [i, run] of runsOf(operations).entries()) {
    const [first] = run;
    if (first?.kind === 'delete-by-query') {
      if (i > 0 && slot.isWanted) await applier.pass();
      await applier.applyDelete(first);
      progress.count = 0;
    } else {
      await applier.apply(run);
      progress.count += run.length;
    }
    await applier.pauseAfterChunk();
  }
}

/** Deletes by query are applied alone. The operations between them are applied together. */
function runsOf(operations: readonly ReadyOperation[]): ReadyOperation[][] {
  const runs: ReadyOperation[][] = [];
  let open: ReadyOperation[] | undefined;
  for (const operation of operations) {
    if (operation.kind === 'delete-by-query') {
      runs.push([operation]);
      open = undefined;
    } else if (open === undefined) {
      open = [operation];
      runs.push(open);
    } else {
      open.push(operation);
    }
  }
  return runs;
}
