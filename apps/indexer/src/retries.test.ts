import { describe, expect, it } from '@jest/globals';
import { retryDelays } from './retries.ts';

describe('the next attempts for a picture', () => {
  it.each([
    [undefined, [1_000, 5_000]],
    [0, [1_000, 5_000]],
    [3, [3_000, 5_000]],
    [60, [60_000, 60_000]],
    [86_400, [600_000, 600_000]],
  ])('keep to what its host asks, here %s seconds, up to 10 minutes', (asked, delays) => {
    expect(retryDelays(asked)).toEqual(delays);
  });
});
