import { AkinError } from '@akin/domain';
import { applyChunk } from './apply.ts';
import type { Collection } from './collections.ts';
import type { CommitContext } from './commit-context.ts';
import { applyDeleteByQuery } from './delete-by-query.ts';
import { publishDescribed } from './described.ts';
import { type Lease, requireLease } from './leases.ts';
import { Pace } from './pace.ts';
import { nextReady, type ReadyOperation, requestPages } from './ready-operations.ts';
import { finishRequests } from './requests.ts';
import { loadSchema } from './schema.ts';
import type { Store } from './store.ts';

export interface CommitResult {
  /** The number of the last commit: a new one if there was something to show. */
  readonly commit: number;
  /** Operations that took effect, superseded ones included. */
  readonly applied: number;
  readonly failed: number;
}

/** Operations of a chunk while searches are slowed by them. */
const BRAKED_ROWS = 60;

/** Commits of one collection in this process: one at work, at most one behind it. */
export interface CommitRun {
  readonly running: Promise<CommitResult>;
  next?: Promise<CommitResult>;
}

/**
 * Makes everything visible that was accepted before the call and is ready. What cannot be applied fails by itself and
 * stops nothing else. With nothing to do the number stays. Calls that come while a commit is at work share the one
 * after it.
 *
 * A commit that rejects (the database is away, the process dies) loses nothing: the next one goes on with it.
 *
 * @param lease needed where other processes share the store
 * @throws AkinError conflict when the lease was lost on the way: nothing was published
 */
export async function commit(store: Store, collection: Collection, lease?: Lease): Promise<CommitResult> {
  if (store.shared && lease === undefined) throw new Error('a commit in a shared store needs a lease');
  const { commits } = store.memory;
  const current = commits.get(collection.id);
  if (current !== undefined) {
    current.next ??= current.running.then(
      () => commit(store, collection, lease),
      () => commit(store, collection, lease),
    );
    return current.next;
  }
  const running = runCommit(store, collection, lease);
  commits.set(collection.id, { running });
  try {
    return await running;
  } finally {
    commits.delete(collection.id);
  }
}

async function runCommit(store: Store, collection: Collection, lease: Lease | undefined): Promise<CommitResult> {
  const [row] = await store.engine.query<{ commit: bigint; next_seq: bigint }>(
    'select commit, next_seq from akin.collections where id = $1',
    [collection.id],
  );
  if (row === undefined) throw new AkinError('not-found', `The collection ${collection.name} does not exist any more.`);
  const context: CommitContext = {
    store,
    collection,
    schema: await loadSchema(store, collection),
    target: row.commit + 1n,
    lease,
  };

  let failed = 0;
  // A chunk of 20 ms would be statements that cost the same for any number of rows, by half. On PostgreSQL nobody waits
  // for one but those who accept, for its last moment.
  const pace = store.engine.kind === 'pglite' ? new Pace(20, 1_000, 35, 10) : new Pace(200, 2_000, 150);
  for await (const requests of requestPages(store, collection, row.next_seq)) {
    failed += await applyPage(context, requests, pace);
    await store.engine.transaction((tx) => finishRequests(tx, collection, requests), { lane: 'bulk', keyed: true });
  }
  const published = await publish(context);
  if (published > 0 || failed > 0) store.memory.events.tell(collection.id);
  return { commit: Number(published > 0 ? context.target : row.commit), applied: published, failed };
}

async function applyPage(context: CommitContext, requests: readonly bigint[], pace: Pace): Promise<number> {
  const { store, collection } = context;
  let failed = 0;
  let last: ReadyOperation | undefined;
  let began = performance.now();
  for (;;) {
    // While searches are slowed small pieces are better: none of them waits long behind one.
    const rows = store.brake.strength > 0 ? Math.min(pace.rows, BRAKED_ROWS) : pace.rows;
    const operations = await nextReady(store, collection, requests, last, rows);
    if (operations.length === 0) return failed;
    last = operations.at(-1);
    for (const run of runsOf(operations)) {
      const [first] = run;
      if (first?.kind === 'delete-by-query') failed += await applyDeleteByQuery(context, first);
      else failed += await applyChunk(context, run, pace);
      await store.brake.rest(performance.now() - began);
      began = performance.now();
    }
  }
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
 * The moment of visibility.
 * @returns how many operations it showed, those that a commit before left unpublished included
 */
async function publish({ store, collection, target, lease }: CommitContext): Promise<number> {
  const S = collection.sqlSchema;
  return store.engine.transaction(async (tx) => {
    await requireLease(tx, collection, lease);
    const [row] = await tx.query<{ operations: bigint }>(
      `select unpublished_operations as operations from akin.collections where id = $1 for update`,
      [collection.id],
    );
    const operations = Number(row?.operations ?? 0);
    if (operations === 0) return 0;
    await tx.query(
      `update akin.collections set commit = $2, committed_at = now(), documents = documents + unpublished_documents,
              unpublished_documents = 0, unpublished_operations = 0 where id = $1`,
      [collection.id, target],
    );
    await publishDescribed(tx, S);
    await tx.query(`insert into ${S}.commits (number) values ($1)`, [target]);
    return operations;
  });
}
