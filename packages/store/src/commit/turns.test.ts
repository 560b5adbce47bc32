import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Turns } from './turns.ts';

describe('turns', () => {
  /** Does some work in pieces, and records each. */
  async function work(turns: Turns, name: string, pieces: number, finished: string[]): Promise<void> {
    const turn = await turns.begin();
    for (let i = 0; i < pieces; i++) {
      if (i > 0 && turn.isWanted) await turn.yieldTurn();
      finished.push(name);
      await tick();
    }
    turn.end();
  }

  it('lets small work end while earlier large work continues', async () => {
    for (const places of [1, 2]) {
      const finished: string[] = [];
      const turns = new Turns(() => places);
      const large = Array.from({ length: 3 }, (_, i) => work(turns, `large ${i}`, 1000, finished));
      await tick();
      await work(turns, 'small', 1, finished);
      // It waited for at most a few pieces of each.
      expect(finished.indexOf('small')).toBeLessThan(12);
      await Promise.all(large);
      expect(finished).toHaveLength(3001);
    }
  });

  it('never runs more at a time than there are places, and runs all of it', async () => {
    let places = 3;
    const turns = new Turns(() => places);
    let busy = 0;
    let most = 0;
    const one = async () => {
      const turn = await turns.begin();
      for (let i = 0; i < 10; i++) {
        most = Math.max(most, ++busy);
        await tick();
        busy--;
        if (turn.isWanted) await turn.yieldTurn();
      }
      turn.end();
    };
    const all = Array.from({ length: 20 }, one);
    await Promise.all(all);
    expect(most).toBe(3);
    places = 1;
    most = 0;
    await Promise.all(Array.from({ length: 20 }, one));
    expect(most).toBe(1);
  });

  it('lets large work make progress however much small work comes', async () => {
    const finished: string[] = [];
    const turns = new Turns(() => 1);
    let ended = false;
    const large = work(turns, 'large', 50, finished).then(() => {
      ended = true;
    });
    const small: Promise<void>[] = [];
    while (!ended) {
      // More than can be done in this time.
      small.push(
        work(turns, 'small', 1, finished),
        work(turns, 'small', 1, finished),
        work(turns, 'small', 1, finished),
      );
      await tick();
    }
    await Promise.all([large, ...small]);
    expect(finished.slice(0, finished.lastIndexOf('large')).filter((name) => name === 'small').length).toBeLessThan(60);
  });
});
