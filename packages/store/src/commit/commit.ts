import { AkinError } from '@akin/domain';
import { inSpan, type Span } from '@akin/runtime';
import { finishRequests } from '../accept/requests.ts';
import { AdaptiveBatchSize } from '../bulk/adaptive-batch-size.ts';
import { loadSchema } from '../collections/schema.ts';
import { shardsOf } from '../collections/shards.ts';
import type { Collection, CommitResult, Store } from '../context.ts';
import type { Queryable } from '../engine/engine.ts';
import { statements } from '../statements.ts';
import { Appliers, shareOut } from './appliers.ts';
import { applyChunk } from './apply.ts';
import { piecesOf } from './atomic.ts';
import type { CommitContext } from './commit-context.ts';
import { applyDeleteByQuery } from './delete-by-query.ts';
import { publishDescriptorCounts } from './descriptor-counts.ts';
import { type Lease, requireLease } from './leases.ts';
import { prepareChunk } from './prepare.ts';
import { nextReady, type ReadyOperation, requestPages, type UnfinishedRequest } from './ready-operations.ts';
import type { Turn } from './turns.ts';
import { applyWaitingDeletes } from './waiting-deletes.ts';

/** Requests that the span of a commit names. */
const MOST_LINKS = 100;

/** Shards that a commit applies side by side at most; all commits of a process together, see `appliers` of the memory. */
export const MOST_PLACES = 4;
/** Operations that are read together, so that memory holds no more. */
const MOST_READ = 4_000;

/** Operations of a chunk while searches are slowed by them. */
const THROTTLED_ROWS = 60;

/**
 * Makes everything visible that was accepted before the call and is ready. What cannot be applied fails by itself and
 * stops nothing else. With nothing to do the number stays. Calls that come while a commit is at work share the one
 * after it. Commits of different collections go on side by side, or in turns: see {@link Turns}.
 *
 * A commit that rejects (the database is away, the process dies) loses nothing: the next one goes on with it.
 *
 * @param lease needed where other processes share the store
 * @param signal breaks it off between two pieces
 * @throws AkinError conflict when the lease was lost on the way: nothing was published; the reason of the signal
 */
export async function commit(
  store: Store,
  collection: Collection,
  lease?: Lease,
  signal?: AbortSignal,
): Promise<CommitResult> {
  if (store.shared && lease === undefined) throw new Error('a commit in a shared store needs a lease');
  const { commits } = store.memory;
  const current = commits.get(collection.id);
  if (current !== undefined) {
    current.next ??= current.running.then(
      () => commit(store, collection, lease, signal),
      () => commit(store, collection, lease, signal),
    );
    return current.next;
  }
  const running = runCommit(store, collection, lease, signal);
  commits.set(collection.id, { running });
  try {
    return await running;
  } finally {
    commits.delete(collection.id);
  }
}

async function runCommit(
  store: Store,
  collection: Collection,
  lease: Lease | undefined,
  signal: AbortSignal | undefined,
): Promise<CommitResult> {
  const turn = await store.memory.turns.begin();
  try {
    signal?.throwIfAborted();
    return await commitInTurns(store, collection, lease, signal, turn);
  } finally {
    turn.end();
  }
}

async function commitInTurns(
  store: Store,
  collection: Collection,
  lease: Lease | undefined,
  signal: AbortSignal | undefined,
  turn: Turn,
): Promise<CommitResult> {
  const [row] = await store.engine.query<CommitState>(
    `select commit, next_seq, exists (select from ${collection.sqlSchema}.barriers where waiting is not null) as waiting
       from akin.collections where id = $1`,
    [collection.id],
  );
  if (row === undefined) throw new AkinError('not-found', `The collection ${collection.name} does not exist any more.`);
  const context: CommitContext = {
    store,
    collection,
    schema: await loadSchema(store, collection),
    target: row.commit + 1n,
    lease,
    signal,
    turn,
  };

  // A chunk of 20 ms would be statements that cost the same for any number of rows, by half. On PostgreSQL nobody waits
  // for one but those who accept, for its last moment; while somebody searches they are smaller.
  const batchSize =
    store.engine.kind === 'pglite' ? new AdaptiveBatchSize(20, 1_000, 35, 10) : new AdaptiveBatchSize(200, 2_000, 400);
  const pages = requestPages(store, collection, row.next_seq);
  const first = await pages.next();
  // Most commits have nothing to do: they are no spans.
  if (first.done === true) return end(context, row, 0);
  const attributes = { 'akin.collection': collection.name, 'akin.commit.number': Number(context.target) };
  return inSpan('commit', { attributes }, async (span) => {
    const links = { span, left: MOST_LINKS };
    let failed = 0;
    let page: IteratorResult<UnfinishedRequest[]> = first;
    for (; page.done !== true; page = await pages.next()) {
      if (page !== first && turn.isWanted) await turn.pass();
      failed += await applyRequests(context, page.value, batchSize, links);
    }
    const result = await statements('UPDATE collections', collection, () => end(context, row, failed));
    span.set({ 'akin.commit.applied': result.applied, 'akin.commit.failed': failed });
    return result;
  });
}

interface CommitState {
  /** The number of the last commit. */
  readonly commit: bigint;
  readonly next_seq: bigint;
  /** Whether deletes by query had to pass documents over. */
  readonly waiting: boolean;
}

/** Where the span of a commit says whose changes it applied. */
interface Links {
  readonly span: Span;
  left: number;
}

async function applyRequests(
  context: CommitContext,
  page: readonly UnfinishedRequest[],
  batchSize: AdaptiveBatchSize,
  links: Links,
): Promise<number> {
  const { store, collection } = context;
  const requests = page.map(({ request }) => request);
  const touched = new Set<bigint>();
  const failed = await applyPage(context, requests, batchSize, touched);
  await store.engine.transaction((tx) => finishRequests(tx, collection, requests), { lane: 'bulk', keyed: true });
  for (const { request, trace } of page) {
    if (trace === null || links.left === 0 || !touched.has(request)) continue;
    links.span.link(trace);
    links.left--;
  }
  return failed;
}

/** Publishes what was applied, by this commit or by one that was broken off. */
async function end(
  context: CommitContext,
  { commit: before, next_seq, waiting }: CommitState,
  failed: number,
): Promise<CommitResult> {
  const { store, collection, target } = context;
  const refused = waiting ? await applyWaitingDeletes(context) : 0;
  const published = await publish(context, next_seq);
  if (published > 0 || failed + refused > 0) store.memory.events.tell(collection.id);
  return { commit: Number(published > 0 ? target : before), applied: published, failed: failed + refused };
}

/** How many shards are applied side by side. While others wait for their turn, or searches are slowed, one at a time. */
function placesOf({ store, collection, turn }: CommitContext): number {
  const isAlone = store.engine.kind === 'postgres' && store.throttle.strength === 0 && !turn.isWanted;
  return isAlone ? Math.min(shardsOf(collection), MOST_PLACES) : 1;
}

/**
 * On PostgreSQL the next operations are read and prepared while the server applies those before; not so while searches
 * are slowed, which would have to wait for both. Shards are applied side by side up to the next delete by query, which
 * is for all of them.
 *
 * @param touched gets the requests of which something was applied, or failed
 */
async function applyPage(
  context: CommitContext,
  requests: readonly bigint[],
  batchSize: AdaptiveBatchSize,
  touched: Set<bigint>,
): Promise<number> {
  const { store, collection } = context;
  let failed = 0;
  let last: ReadyOperation | undefined;
  let began = performance.now();
  const appliers = new Appliers();
  let places = 1;
  const applied = async () => {
    failed += await appliers.all();
  };
  /** Between two pieces: commits of other collections go on meanwhile. */
  const letOthers = async () => {
    if (!context.turn.isWanted) return;
    await applied();
    await context.turn.pass();
    began = performance.now();
  };
  let isMore = false;
  try {
    for (;;) {
      // While it waits it holds nothing in memory.
      if (isMore) await letOthers();
      context.signal?.throwIfAborted();
      await store.engine.disk?.requireRoom('work');
      // While searches are slowed small pieces are better: none of them waits long behind one.
      const rows = store.throttle.strength > 0 ? Math.min(batchSize.rows, THROTTLED_ROWS) : batchSize.rows;
      // Else two that change the same document could be applied at the same time.
      if (placesOf(context) !== places) await applied();
      places = placesOf(context);
      const most = Math.max(rows, Math.min(rows * places, MOST_READ));
      const operations = await nextReady(store, collection, requests, last, most);
      if (operations.length === 0) break;
      last = operations.at(-1);
      isMore = operations.length === most;
      for (const { request } of operations) touched.add(request);
      for (const [i, run] of runsOf(operations).entries()) {
        const [first] = run;
        if (first?.kind === 'delete-by-query') {
          if (i > 0) await letOthers();
          await applied();
          failed += await applyDeleteByQuery(context, first);
        } else {
          const isAtomic = run.some(({ atomic }) => atomic);
          // They are made of what is in the tables.
          if (isAtomic) await applied();
          const shares = isAtomic
            ? (await piecesOf(context, run)).map((piece) => ({ place: 0, piece }))
            : shareOut(run, places);
          for (const { place, piece } of shares) {
            const chunk = await prepareChunk(context, piece);
            await appliers.free(place);
            appliers.begin(place, () => store.memory.appliers.during(() => applyChunk(context, chunk, batchSize)));
            if (isAtomic) await applied();
          }
        }
        if (store.engine.kind === 'pglite' || store.throttle.strength > 0) await applied();
        await store.throttle.rest(performance.now() - began);
        began = performance.now();
      }
    }
  } finally {
    // No transaction of a commit outlives it.
    await applied();
  }
  return failed;
}

/** Deletes by query stand alone; what lies between them goes together. */
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

/**
 * Writes down that all changes below a number are dealt with, if they are: nobody then looks for work in the collection.
 * What sets one on its way again says so in the same row, and comes before or after.
 */
async function settle(tx: Queryable, { id, sqlSchema: S }: Collection, bound: bigint): Promise<void> {
  await tx.query(
    `update akin.collections set settled_seq = $2
      where id = $1 and settled_seq is distinct from $2
        and not exists (select from ${S}.requests where not finished and first_seq is not null and first_seq < $2)`,
    [id, bound],
  );
}

/**
 * The moment of visibility.
 * @param bound changes below it are what the commit was for
 * @returns how many operations it showed, those that a commit before left unpublished included
 */
async function publish({ store, collection, target, lease }: CommitContext, bound: bigint): Promise<number> {
  const S = collection.sqlSchema;
  const published = await store.engine.transaction(async (tx) => {
    await requireLease(tx, collection, lease);
    const [row] = await tx.query<{ operations: bigint }>(
      `select unpublished_operations as operations from akin.collections where id = $1 for update`,
      [collection.id],
    );
    const operations = Number(row?.operations ?? 0);
    await settle(tx, collection, bound);
    if (operations === 0) return 0;
    await tx.query(
      `update akin.collections set commit = $2, committed_at = now(), documents = documents + unpublished_documents,
              unpublished_documents = 0, unpublished_operations = 0 where id = $1`,
      [collection.id, target],
    );
    await publishDescriptorCounts(tx, S);
    await tx.query(`insert into ${S}.commits (number) values ($1)`, [target]);
    return operations;
  });
  if (published > 0) store.memory.shown.delete(collection.id);
  return published;
}
