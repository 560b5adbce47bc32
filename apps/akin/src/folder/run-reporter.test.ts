import type { Collection, Run } from '@akin/client';
import { describe, expect, it } from '@jest/globals';
import { Progress } from './progress.ts';
import { RunReporter, settleFailures } from './run-reporter.ts';

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

describe('what was not there or failed', () => {
  it('is reported as such', async () => {
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

  it('is taken from the reports of earlier runs once it is settled, and a run without other failures is dismissed', async () => {
    const absent = (path: string) => ({ path, code: 'absent', msg: 'it is not there' });
    const broken = (path: string) => ({ path, code: 'unreadable', msg: 'broken' });
    const run = (id: string, state: string, ...failures: object[]) =>
      ({ id, source: '/mnt', state, total: 2, done: 1, unchanged: 0, failed: failures.length, failures }) as Run;
    const runs = [
      run('0', 'done', broken('/mnt/a.jpg')),
      run('1', 'done', absent('/mnt/card')),
      run('2', 'done', absent('/mnt/card'), absent('/mnt/other'), broken('/mnt/a.jpg'), broken('/mnt/b.jpg')),
      run('3', 'done', absent('/mnt/other')),
      run('4', 'running', absent('/mnt/card')),
      run('5', 'stopped', broken('/mnt/a.jpg')),
      { ...run('6', 'done', broken('/mnt/a.jpg')), failed: 1_001 },
    ];
    const said: unknown[] = [];
    const collection = {
      runs: async () => ({ runs }),
      dismissRun: async (id: string) => void said.push(id),
      reportRun: async (id: string, { failed, failures }: Run) => void said.push([id, failed, failures]),
    };
    await settleFailures(collection as unknown as Collection, '0', (file) => /card|a\.jpg/.test(file));
    expect(said).toEqual(['1', ['2', 2, [absent('/mnt/other'), broken('/mnt/b.jpg')]], '5', '6']);
  });
});
