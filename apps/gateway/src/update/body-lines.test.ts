import { expect, it } from '@jest/globals';
import { BodyLines } from './body-lines.ts';

it('lines of documents are known after blank lines, unless there are too many of them', () => {
  const lines = new BodyLines(2);
  for (const [position, line] of [1, 2, 5, 6, 9].entries()) lines.note(position, line);
  expect([0, 1, 2, 3, 4, 5].map((position) => lines.lineOf(position))).toEqual([1, 2, 5, 6, undefined, undefined]);
  expect(new BodyLines().lineOf(0)).toBeUndefined();
});
