import { describe, expect, it } from '@jest/globals';
import { Pace } from './pace.ts';

describe('the pace of bulk work', () => {
  it('finds the rows that fit into the time, from below and from above', () => {
    for (const first of [1, 10_000]) {
      const pace = new Pace(first, 10_000, 30);
      for (let i = 0; i < 20; i++) pace.learn(pace.rows, pace.rows * 0.5);
      expect(pace.rows).toBeGreaterThanOrEqual(50);
      expect(pace.rows).toBeLessThanOrEqual(60);
    }
  });

  it('has no fewer rows than the least', () => {
    const pace = new Pace(20, 100, 30, 10);
    pace.learn(20, 100_000);
    expect(pace.rows).toBe(10);
  });

  it('stays between one row and the most', () => {
    const pace = new Pace(10, 100, 30);
    pace.learn(10, 100_000);
    expect(pace.rows).toBe(1);
    for (let i = 0; i < 20; i++) pace.learn(pace.rows, 0);
    expect(pace.rows).toBe(100);
  });

  it('learns nothing good from a chunk that was not full', () => {
    const pace = new Pace(100, 1_000, 30);
    pace.learn(3, 0.1);
    expect(pace.rows).toBe(100);
  });
});
