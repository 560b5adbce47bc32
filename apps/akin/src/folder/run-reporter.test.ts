import type { Collection, Run } from '@akin/client';
import { describe, expect, it } from '@jest/globals';
import { Progress } from './progress.ts';
import { RunReporter, reportReturned } from './run-reporter.ts';

describe('the reports of a run', () => {
  it('end with every failure, also one that came during the previous report', async () => {
    const progress = new Progress(process.stderr);
    const reports: Parameters<Collection['reportRun']>[1][] = [];
    const fail = (file: string) => progress.fail({ file, code: 'unreadable', reason: 'it is gone' });
    const reportRun = async (_: string, report: (typeof reports)[number]) => {
      reports.push(structuredClone(report));
      if (reports.length === 1) fail('second.jpg');
    };
    fail('first.jpg');
    const reporter = new RunReporter({ reportRun } as unknown as Collection, 'folder', progress);
    await reporter.finish('done');
    progress.finish();
    expect(reports.map(({ failed, failures }) => [failed, failures?.map(({ path }) => path)])).toEqual([
      [1, ['first.jpg']],
      [2, ['first.jpg', 'second.jpg']],
    ]);
  });
});

describe('what was not there', () => {
  it('is reported as such, and counts as failed', async () => {
    const progress = new Progress(process.stderr, true);
    const reports: Parameters<Collection['reportRun']>[1][] = [];
    progress.absent.add('/mnt/card');
    progress.fail({ file: 'a.jpg', code: 'unreadable', reason: 'broken' });
    const reportRun = async (_: string, report: (typeof reports)[number]) => void reports.push(report);
    await new RunReporter({ reportRun } as unknown as Collection, '/mnt', progress).finish('done');
    progress.finish();
    expect(reports.at(0)).toMatchObject({
      failed: 2,
      failures: [
        { path: '/mnt/card', code: 'absent' },
        { path: 'a.jpg', code: 'unreadable' },
      ],
    });
  });

  it('is taken from the reports when it is back, and a run without other failures is dismissed', async () => {
    const absent = (path: string) => ({ path, code: 'absent', msg: 'it is not there' });
    const broken = { path: '/mnt/a.jpg', code: 'unreadable', msg: 'broken' };
    const run = (id: string, state: string, ...failures: object[]) =>
      ({ id, source: '/mnt', state, total: 2, done: 1, unchanged: 0, failed: failures.length, failures }) as Run;
    const runs = [
      run('1', 'done', absent('/mnt/card')),
      run('2', 'done', absent('/mnt/card'), absent('/mnt/other'), broken),
      run('3', 'done', absent('/mnt/other')),
      run('4', 'running', absent('/mnt/card')),
      run('5', 'done', broken),
    ];
    const said: unknown[] = [];
    const collection = {
      runs: async () => ({ runs }),
      dismissRun: async (id: string) => void said.push(id),
      reportRun: async (id: string, { failed, failures }: Run) => void said.push([id, failed, failures]),
    };
    await reportReturned(collection as unknown as Collection, (file) => file === '/mnt/card');
    expect(said).toEqual(['1', ['2', 2, [absent('/mnt/other'), broken]]]);
  });
});
