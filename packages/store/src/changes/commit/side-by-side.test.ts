import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { changesOf, ENGINES } from '../../../test/support.ts';
import { collectionStatus, createCollection } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import { Staging } from '../accept/staging.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';
import { MAX_APPLIED } from './fair-semaphore.ts';

describe.each(ENGINES)('commits of several collections on %s', (kind) => {
  let store: Store;
  let collection: Collection;
  freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  async function fill(into: Collection, count: number): Promise<void> {
    const documents = Array.from({ length: count }, (_, i) => ({ id: `document ${i}` }));
    const staging = new Staging(store, into);
    await staging.add(await changesOf(store, into, documents));
    await staging.accept();
  }

  it('show a small change while more large ones run than fit in parallel', async () => {
    const large = [collection];
    while (large.length < 5) large.push(await createCollection(store, `large-${large.length}`));
    for (const one of large) await fill(one, 2_500);
    const small = await createCollection(store, 'small');
    await fill(small, 1);

    let show = () => {};
    const isShown = new Promise<void>((resolve) => {
      show = resolve;
    });
    const { engine } = store;
    // A large one is published after the small one, however long that takes. All else that it does is bulk work.
    const transaction: typeof engine.transaction = async (run, options) => {
      if (options?.lane !== 'bulk') await isShown;
      return engine.transaction(run, options);
    };
    const slow: Store = { ...store, engine: { ...engine, transaction } };
    const committing = large.map(async (one) => (await commit(slow, one)).applied);
    // All of them have started, or wait.
    while ((await unpublished()) === 0);
    await commit(store, small);
    expect(await collectionStatus(store, small)).toMatchObject({ documents: 1 });
    show();
    expect(await Promise.all(committing)).toEqual(large.map(() => 2_500));
  });

  it('leave connections for others, however many shards they have', async () => {
    if (kind === 'pglite') return;
    const { engine } = store;
    let open = 0;
    let most = 0;
    const transaction: typeof engine.transaction = async (run, options) =>
      engine.transaction(async (tx, first) => {
        most = Math.max(most, ++open);
        try {
          return await run(tx, first);
        } finally {
          open--;
        }
      }, options);
    const counted: Store = { ...store, engine: { ...engine, transaction }, shardsFrom: 0 };
    const sharded = await Promise.all(
      ['a', 'b', 'c'].map((name) => createCollection(store, `sharded-${name}`, { shards: 8 })),
    );
    for (const one of sharded) await fill(one, 2_000);
    await Promise.all(sharded.map((one) => commit(counted, one)));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(2 * MAX_APPLIED);
  });

  async function unpublished(): Promise<number> {
    const [row] = await store.engine.query<{ count: number }>(
      'select sum(unpublished_operations)::float8 as count from akin.collections',
    );
    return row?.count ?? 0;
  }
});
