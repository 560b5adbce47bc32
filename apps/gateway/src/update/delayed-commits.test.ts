import { describe, expect, it, jest } from '@jest/globals';
import { testLog } from '../../test/start-gateway.ts';
import { createDelayedCommits } from './delayed-commits.ts';

describe('delayed commits', () => {
  it('do not come at once if they may come later than a timer can wait', () => {
    const timer = jest.spyOn(globalThis, 'setTimeout');
    const commits = createDelayedCommits(async () => undefined as never, testLog());
    commits.add('books', 2 ** 40);
    const [, milliseconds] = timer.mock.calls.at(-1) ?? [];
    expect(milliseconds).toBeGreaterThan(3_600_000);
    expect(milliseconds).toBeLessThan(2 ** 31);
    commits.stop();
    timer.mockRestore();
  });
});
