import { expect, it } from '@jest/globals';
import { type Box, type Direction, neighbourOf } from './focus.ts';

/** Two rows of three and one of one; the second row has other widths. */
const box = (left: number, right: number, top: number): Box => ({ left, right, top, bottom: top + 90 });
const BOXES = [
  box(0, 90, 0),
  box(100, 190, 0),
  box(200, 290, 0),
  box(0, 140, 100),
  box(150, 290, 100),
  box(0, 90, 200),
];

it.each([
  [0, 'right', 1],
  [0, 'left', 0],
  [5, 'right', 5],
  [2, 'down', 4],
  [1, 'down', 3],
  [4, 'down', 5],
  [5, 'down', 5],
  [4, 'up', 2],
  [1, 'up', 1],
  [3, 'first', 0],
  [3, 'last', 5],
] as [number, Direction, number][])('from card %d the way %s leads to %d', (at, way, to) => {
  expect(neighbourOf(BOXES, at, way)).toBe(to);
});
