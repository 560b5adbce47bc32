import { expect, it } from '@jest/globals';
import { Appliers } from './appliers.ts';

it('counts what failed in every place, whichever ends first', async () => {
  const appliers = new Appliers();
  const ends: ((failed: number) => void)[] = [];
  for (const place of [0, 1, 2]) {
    appliers.begin(place, () => new Promise((resolve) => ends.push(resolve)));
  }
  const all = appliers.all();
  for (const [i, failed] of [1, 0, 2].entries()) ends[i]?.(failed);
  expect(await all).toBe(3);
  expect(await appliers.all()).toBe(0);
});
