import { describe, expect, it } from '@jest/globals';
import { growth, LINEAR } from './growth.ts';

describe('the growth of work', () => {
  const spend = (steps: number) => {
    let sum = 0;
    for (let i = 0; i < steps; i++) sum += Math.sqrt(i);
    return sum;
  };

  it('distinguishes linear from quadratic time', async () => {
    expect(await growth((size) => spend(size * 1_000), 5_000)).toBeLessThan(LINEAR);
    expect(await growth((size) => spend(size ** 2), 2_000)).toBeGreaterThan(LINEAR);
  });

  it('counts waiting jobs', async () => {
    const later = (steps: number) => new Promise<void>((resolve) => setImmediate(() => resolve(void spend(steps))));
    expect(await growth((size) => later(size ** 2), 2_000)).toBeGreaterThan(LINEAR);
  });
});
