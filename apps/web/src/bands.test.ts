import { expect, it } from '@jest/globals';
import { aboutBand, bandsOf, countRelated } from './bands.ts';

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

it('close copies are not only the same kind of thing', () => {
  expect(aboutBand('close', 'content')).toBe('the same kind of thing');
  expect(aboutBand('close', 'duplicate')).toContain('edits, parts');
});

it.each([
  [[0.9, 0.5, 0.1], false, { count: 2, isExact: true }],
  [[0.9, 0.5], false, { count: 2, isExact: false }],
  [[0.9, 0.5], true, { count: 2, isExact: true }],
  [[0.2, 0.1], false, { count: 0, isExact: true }],
  [[], true, { count: 0, isExact: true }],
])('counts the related results among %j, all loaded: %s', (scores, isAll, related) => {
  const documents = scores.map((score, i) => ({ id: `${i}`, score }));
  expect(countRelated(documents, 'content', isAll)).toEqual(related);
});
