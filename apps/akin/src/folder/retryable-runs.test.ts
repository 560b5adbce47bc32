import { expect, it } from '@jest/globals';
import { RetryableRuns } from './retryable-runs.ts';

it('a retry waits for a run that is under way, and the next run waits for it', async () => {
  const runs = new RetryableRuns();
  const order: string[] = [];
  let end = () => {};
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  runs.offer('one', async () => void order.push('retry'));
  const first = runs.inTurn(() => held.then(() => order.push('first')));
  expect([runs.start('one'), runs.start('one'), runs.start('two')]).toEqual([true, false, false]);
  const second = runs.inTurn(async () => order.push('second'));
  end();
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'retry', 'second']);
});
