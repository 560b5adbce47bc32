import { expect, it } from '@jest/globals';
import { bulkLine } from './progress-line.ts';

it('the line of progress estimates the rest by what this run did', () => {
  const before = { documents: 500, failed: 0, share: 0.3, note: '' };
  const now = { documents: 600, failed: 2, share: 0.4, note: 'waits' };
  expect(bulkLine(now, before, 5)).toBe('600 documents · 20/s · 40 % · 30 s left · 2 failed · waits');
  expect(bulkLine(before, before, 5)).toBe('500 documents · 0/s · 30 %');
  expect(bulkLine({ ...before, share: undefined }, before, 0)).toBe('500 documents · 0/s');
});
