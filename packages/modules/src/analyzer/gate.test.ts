import { describe, expect, it } from '@jest/globals';
import { createGate } from './gate.ts';

describe('the gate', () => {
  it('lets urgent callers in first, each kind in order of arrival', async () => {
    const gate = createGate(1);
    const leave = await gate.enter({ urgent: false });
    const seen: string[] = [];
    const enter = async (name: string, urgent: boolean) => {
      const done = await gate.enter({ urgent });
      seen.push(name);
      done();
    };
    const all = [enter('a', false), enter('B', true), enter('c', false), enter('D', true)];
    leave();
    await Promise.all(all);
    expect(seen).toEqual(['B', 'D', 'a', 'c']);
  });

  it('never has more inside than there are places, and fills each that becomes free', async () => {
    const gate = createGate(3);
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const leave = await gate.enter({ urgent: false });
        most = Math.max(most, ++inside);
        await new Promise(setImmediate);
        inside--;
        leave();
      }),
    );
    expect(most).toBe(3);
  });

  it('forgets a caller who gives up, without losing the place', async () => {
    const gate = createGate(1);
    const leave = await gate.enter({ urgent: false });
    const giveUp = new AbortController();
    const gone = gate.enter({ urgent: true, signal: giveUp.signal });
    const next = gate.enter({ urgent: false });
    giveUp.abort(new Error('tired'));
    await expect(gone).rejects.toThrow('tired');
    leave();
    (await next)();
    await expect(gate.enter({ urgent: false, signal: giveUp.signal })).rejects.toThrow('tired');
  });

  it('turns everyone away when closed', async () => {
    const gate = createGate(1);
    await gate.enter({ urgent: false });
    const waiting = gate.enter({ urgent: true });
    gate.close(new Error('closed'));
    await expect(waiting).rejects.toThrow('closed');
    await expect(gate.enter({ urgent: false })).rejects.toThrow('closed');
  });

  it('is closed once all have left, however often it is asked', async () => {
    const gate = createGate(2);
    const leaves = [await gate.enter({ urgent: false }), await gate.enter({ urgent: false })];
    const closed: number[] = [];
    const closing = [1, 2].map((time) => gate.close(new Error('closed')).then(() => closed.push(time)));
    for (const leave of leaves) {
      await new Promise(setImmediate);
      expect(closed).toEqual([]);
      leave();
    }
    await Promise.all(closing);
    expect(closed).toEqual([1, 2]);
    await createGate(1).close(new Error('nobody is inside'));
  });
});
