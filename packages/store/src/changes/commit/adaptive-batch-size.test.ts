import { describe, expect, it } from '@jest/globals';
import { AdaptiveBatchSize } from './adaptive-batch-size.ts';

describe('the adaptive batch size', () => {
  it('finds the rows that fit into the time, from below and from above', () => {
    for (const first of [1, 10_000]) {
      const batchSize = new AdaptiveBatchSize(first, 10_000, 30);
      for (let i = 0; i < 20; i++) batchSize.learn(batchSize.rows, batchSize.rows * 0.5);
      expect(batchSize.rows).toBeGreaterThanOrEqual(50);
      expect(batchSize.rows).toBeLessThanOrEqual(60);
    }
  });

  it('does not go below the minimum', () => {
    const batchSize = new AdaptiveBatchSize(20, 100, 30, 10);
    batchSize.learn(20, 100_000);
    expect(batchSize.rows).toBe(10);
  });

  it('stays between one row and the maximum', () => {
    const batchSize = new AdaptiveBatchSize(10, 100, 30);
    batchSize.learn(10, 100_000);
    expect(batchSize.rows).toBe(1);
    for (let i = 0; i < 20; i++) batchSize.learn(batchSize.rows, 0);
    expect(batchSize.rows).toBe(100);
  });

  it('does not grow after a chunk that was not full', () => {
    const batchSize = new AdaptiveBatchSize(100, 1_000, 30);
    batchSize.learn(3, 0.1);
    expect(batchSize.rows).toBe(100);
  });
});
