import { expect, it } from '@jest/globals';
import { bandsOf } from './bands.ts';

it('results are divided by the meaning of their scores', () => {
  const documents = [1, 0.95, 0.7, 0.5, 0.1].map((score, i) => ({ id: `${i}`, score }));
  const named = (count: number) =>
    bandsOf(documents.slice(0, count), 'content').map((band) => [band.name, band.documents.length]);
  expect(named(5)).toEqual([
    ['same', 2],
    ['close', 1],
    ['related', 1],
    ['weak', 1],
  ]);
  expect(named(2)).toEqual([['same', 2]]);
});
