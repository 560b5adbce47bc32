import { expect, it } from '@jest/globals';
import { type Box, boxesOf, relationOf } from './boxes.ts';

const ALL: Box = [0, 0, 1, 1];
const HALF: Box = [0.5, 0, 0.5, 1];

it.each([
  [ALL, [0.05, 0.05, 0.9, 0.9], 'copy'],
  [ALL, HALF, 'inside'],
  [HALF, ALL, 'contains'],
  [HALF, HALF, 'common'],
] as const)('%j of a picture at %j of another one is: %s', (query, document, relation) => {
  expect(relationOf({ query, document })).toBe(relation);
});

it.each([
  [{ query: [0, 0, 1, 1], document: [0.5, 0, 0.5, 1], turn: 0 }, true],
  [undefined, false],
  ['0,0,1,1', false],
  [{ query: [0, 0, 1, 1] }, false],
  [{ query: [0, 0, 1], document: [0, 0, 1, '1'] }, false],
])('reads %j as boxes: %j', (found, isFound) => {
  expect(boxesOf({ id: 'a', ...(found === undefined ? {} : { parts_box: found }) }) !== undefined).toBe(isFound);
});
