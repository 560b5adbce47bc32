import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { inBackground } from './background.ts';

const HOUR = 3_600_000;
const log = { warn: () => {}, error: () => {} };

/** Work whose runs a test ends one by one. */
function stepwise() {
  const steps = new EventTarget();
  let turns = 0;
  return {
    turns: () => turns,
    next: () => once(steps, 'turn'),
    end: () => steps.dispatchEvent(new Event('end')),
    work: async () => {
      turns++;
      steps.dispatchEvent(new Event('turn'));
      await once(steps, 'end');
    },
  };
}

describe('inBackground', () => {
  it('runs once more if it is woken during a run, however often', async () => {
    const steps = stepwise();
    const background = inBackground('test', HOUR, steps.work, log);
    background.wake();
    expect(steps.turns()).toBe(1);
    for (let i = 0; i < 5; i++) background.wake();
    const second = steps.next();
    steps.end();
    await second;
    const disposed = background[Symbol.asyncDispose]();
    steps.end();
    await disposed;
    expect(steps.turns()).toBe(2);
  });

  it('starts at once after a pause, and again only after the minimum time between two runs', async () => {
    let turns = 0;
    const work = async () => void turns++;
    const background = inBackground('test', HOUR, work, log, HOUR);
    background.wake();
    expect(turns).toBe(1);
    // Ends the run, so that the next ones are woken after it.
    await new Promise(setImmediate);
    for (let i = 0; i < 5; i++) background.wake();
    await new Promise(setImmediate);
    // Disposing does not wait for that time either.
    await background[Symbol.asyncDispose]();
    expect(turns).toBe(1);
  });

  it('eventually does what it was woken for between two runs', async () => {
    const steps = stepwise();
    await using background = inBackground('test', HOUR, steps.work, log, 5);
    for (let i = 0; i < 3; i++) {
      const turn = steps.turns() === i ? steps.next() : undefined;
      background.wake();
      await turn;
      steps.end();
      await new Promise(setImmediate);
    }
    expect(steps.turns()).toBe(3);
  });
});
