import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../test/fresh-collections.ts';
import { ENGINES } from '../../test/support.ts';
import type { Store } from '../changes/context.ts';
import type { Collection } from './context.ts';
import { listRuns, type RunReport, reportRun } from './runs.ts';

const report = (state: RunReport['state'], failed = 0): RunReport => {
  return { source: '/pictures', state, total: 9, done: 1, unchanged: 0, failed, secondsLeft: null };
};

describe.each(ENGINES)('runs on %s', (kind) => {
  let store: Store;
  let collection: Collection;

  freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  it('keep their failures and their start while many shorter ones begin and end', async () => {
    const failures = [{ path: 'a.heic', code: 'unsupported-image', msg: 'HEIC is not read.' }];
    const { startedAt } = await reportRun(store, collection, 'long', report('running', 1), failures);
    for (let i = 0; i < 12; i++) {
      await reportRun(store, collection, `short-${i}`, report('done'), []);
      await reportRun(store, collection, 'long', report('running', 1), []);
    }
    const runs = await listRuns(store, collection);
    expect(runs.map(({ id }) => id)).toEqual([...Array.from({ length: 9 }, (_, i) => `short-${11 - i}`), 'long']);
    expect(runs.at(-1)).toMatchObject({ startedAt, failures, failuresMore: 0 });
  });

  it.each(['\u0000', '\ud800', '"state":"done"'])('are reported again, also of a source with %j', async (part) => {
    const start = () => store.engine.query('select started_at::text from akin.runs');
    const tell = (state: RunReport['state']) =>
      reportRun(store, collection, 'one', { ...report(state), source: `/pictures/${part}` }, []);
    await tell('running');
    const first = await start();
    expect(await tell('running')).toMatchObject({ source: `/pictures/${part}` });
    await tell('done');
    expect(await start()).toEqual(first);
    await tell('running');
    expect(await start()).not.toEqual(first);
  });
});
