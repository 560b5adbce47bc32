import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { growth, LINEAR } from './growth.ts';

describe('the growth of work', () => {
  /** Real work takes longer now and then, so that a quadratic one may look linear. */
  let microseconds = 0;
  const spend = (steps: number) => {
    microseconds += steps;
  };

  beforeEach(() => {
    const used = (before?: NodeJS.CpuUsage) => ({ user: microseconds - (before?.user ?? 0), system: 0 });
    jest.spyOn(process, 'cpuUsage').mockImplementation(used);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('distinguishes linear from quadratic time', async () => {
    expect(await growth((size) => spend(size * 1_000), 5)).toBeLessThan(LINEAR);
    expect(await growth((size) => spend(size ** 2), 100)).toBeGreaterThan(LINEAR);
  });

  it('counts waiting jobs', async () => {
    const later = (steps: number) => new Promise<void>((resolve) => setImmediate(() => resolve(spend(steps))));
    expect(await growth((size) => later(size ** 2), 100)).toBeGreaterThan(LINEAR);
  });
});
