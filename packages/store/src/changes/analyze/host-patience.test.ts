import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { accept, testOutputs } from '../../../test/support.ts';
import { collectionStatus } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import { findOperation, type SeqRange, waitForOperations } from '../accept/operations.ts';
import type { Store } from '../context.ts';
import { type AnalysisTask, claimForAnalysis, failAnalysis, saveAnalysis } from './analysis.ts';
import { hostPatience } from './host-patience.ts';

const HOUR = 3_600_000;
const unreachable = (msg: string) => ({ code: 'image-unreachable', msg }) as const;

describe('the patience of a client with the hosts of its pictures', () => {
  let store: Store;
  let collection: Collection;
  freshCollections('postgres', (fresh) => {
    ({ store, collection } = fresh);
  });

  let range: SeqRange;
  let tasks: Map<string, AnalysisTask>;
  const task = (id: string) => tasks.get(id) as AnalysisTask;
  const states = () =>
    Promise.all(
      [...tasks.keys()].map(async (_, i) => {
        const { id, state, error } = await findOperation(store, collection, range.first + i);
        return [id, state, error?.msg];
      }),
    );

  /** Starts the analyses of pictures whose ids are those of their hosts and a number. */
  const start = async (ids: string[]) => {
    range = await accept(
      store,
      collection,
      ids.map((id) => ({ id, image: `http://${id.slice(0, -1)}.example/${id}.jpg` })),
    );
    const claimed = new Map((await claimForAnalysis(store, 100)).map((one) => [one.id, one]));
    tasks = new Map(ids.map((id) => [id, claimed.get(id) as AnalysisTask]));
  };

  beforeEach(() => start(['hung1', 'hung2', 'slow1', 'mixed1', 'mixed2', 'mixed3']));

  it('ends with the pictures of a host that delivers none, and with those that failed', async () => {
    await failAnalysis(store, task('hung1'), unreachable('It did not deliver.'), [0]);
    await failAnalysis(store, task('mixed1'), unreachable('It is busy.'), [0]);
    await saveAnalysis(store, task('mixed2'), testOutputs({ shape: [1, 0, 0, 0] }));
    await hostPatience(store, range, { total: 0, afterFailure: 0 })(collection);
    expect(await states()).toEqual([
      ['hung1', 'failed', 'It did not deliver.'],
      ['hung2', 'failed', 'It did not deliver.'],
      ['slow1', 'analyzing', undefined],
      ['mixed1', 'failed', 'It is busy.'],
      ['mixed2', 'ready', undefined],
      ['mixed3', 'analyzing', undefined],
    ]);
    expect((await collectionStatus(store, collection)).failures).toEqual({ 'image-unreachable': 3 });
    expect(await saveAnalysis(store, task('hung2'), testOutputs({ shape: [1, 0, 0, 0] }))).toBe(false);
  });

  it('ends with all pictures of a host that delivered some, and then no more', async () => {
    await failAnalysis(store, task('mixed1'), unreachable('It is busy.'), [HOUR]);
    await saveAnalysis(store, task('mixed2'), testOutputs({ shape: [1, 0, 0, 0] }));
    const check = hostPatience(store, range, { total: 2 * HOUR, afterFailure: HOUR });
    const clock = jest.spyOn(performance, 'now');
    let now = performance.now();
    const stateAfter = async (milliseconds: number) => {
      now += milliseconds;
      clock.mockReturnValue(now);
      await check(collection);
      return (await states())[5];
    };
    try {
      // An hour after its first failure was seen, and its delivery.
      expect(await stateAfter(1.9 * HOUR)).toEqual(['mixed3', 'analyzing', undefined]);
      expect(await stateAfter(0.5 * HOUR)).toEqual(['mixed3', 'analyzing', undefined]);
      expect(await stateAfter(0.6 * HOUR)).toEqual(['mixed3', 'failed', 'It is busy.']);
    } finally {
      clock.mockRestore();
    }
  });

  it('ends at once with a picture whose next attempt would come too late, and with no other', async () => {
    await failAnalysis(store, task('hung1'), unreachable('Come back in an hour.'), [HOUR]);
    await failAnalysis(store, task('mixed1'), unreachable('Come back in a second.'), [1_000]);
    await hostPatience(store, range, { total: 0, afterFailure: HOUR / 2 })(collection);
    expect((await states()).map(([id, state]) => [id, state])).toEqual([
      ['hung1', 'failed'],
      ['hung2', 'analyzing'],
      ['slow1', 'analyzing'],
      ['mixed1', 'queued'],
      ['mixed2', 'analyzing'],
      ['mixed3', 'analyzing'],
    ]);
  });

  it('does not end the pictures of other requests', async () => {
    await failAnalysis(store, task('hung1'), unreachable('It did not deliver.'), [0]);
    await failAnalysis(store, task('hung2'), unreachable('It did not deliver.'), [0]);
    const own = { first: range.first + 1, last: range.first + 1 };
    const onPoll = hostPatience(store, own, { total: 0, afterFailure: 0 });
    expect(await waitForOperations(store, collection, own, { onPoll })).toMatchObject([{ id: 'hung2' }]);
    expect((await states())[0]).toEqual(['hung1', 'queued', 'It did not deliver.']);
  });
});
