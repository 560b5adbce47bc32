import { setTimeout as delay } from 'node:timers/promises';

/**
 * Measures how long searches take, one after the other, while other work runs.
 *
 * @param {(i: number) => Promise<unknown>} search the i-th search of a phase
 * @param {number} pause milliseconds between a search and the next one
 */
export function createPhases(search, pause = 0) {
  /** @type {{ title: string, times: number[], seconds: number }[]} */
  const phases = [];
  return {
    phases,
    /** Measures searches until `work` has ended. */
    async during(title, work) {
      const times = [];
      let going = true;
      const from = performance.now();
      const done = work().finally(() => {
        going = false;
      });
      for (let i = 0; going; i++) {
        const asked = performance.now();
        await search(i);
        times.push(performance.now() - asked);
        if (pause > 0) await delay(pause);
      }
      await done;
      phases.push({ title, times, seconds: (performance.now() - from) / 1000 });
    },
    /** Measures searches after a load, in several windows of some seconds each. */
    async after(windows, seconds) {
      for (let window = 0; window < windows; window++) {
        await this.during(`${window * seconds} to ${(window + 1) * seconds} s after`, () => delay(seconds * 1000));
      }
    },
  };
}
