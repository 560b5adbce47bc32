import { expect, it } from '@jest/globals';
import { movesOf } from './moves.ts';

it.each([
  [
    ['a', 'b', 'c'],
    ['c', 'a', 'x'],
    [2, -1, 'new'],
  ],
  [['a'], ['a'], [0]],
  [[], ['a'], ['new']],
  [['a'], [], []],
])('from %j to %j the results move by %j', (left, right, moves) => {
  expect(movesOf(left, right).map((move) => (move.kind === 'new' ? 'new' : move.by))).toEqual(moves);
});
