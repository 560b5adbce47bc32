import type { Collection } from '@akin/client';
import { describe, expect, it } from '@jest/globals';
import { Progress } from './progress.ts';
import { RunReporter } from './run-reporter.ts';

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
