import type { Reindex } from '@akin/client';
import { expect, it } from '@jest/globals';
import { secondsLeft } from './models.ts';

const REINDEX: Reindex = {
  state: 'analyzing',
  alive: true,
  beganAt: '2026-01-01T00:00:00Z',
  documents: 100,
  copied: 100,
  analyzed: 100,
  thumbnails: 0,
  pending: 75,
  missing: [],
};
const now = Date.parse('2026-01-01T00:00:50Z');

it.each([
  [REINDEX, 150],
  [{ ...REINDEX, pending: 100 }, undefined],
  [{ ...REINDEX, state: 'paused' as const }, undefined],
  [{ ...REINDEX, pending: 0, copied: 130 }, 0],
  [{ ...REINDEX, beganAt: '2026-01-01T00:01:00Z' }, undefined],
])('%j takes %s more seconds', (reindex, seconds) => {
  expect(secondsLeft(reindex, now)).toBe(seconds);
});
