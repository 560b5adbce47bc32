import { expect, it } from '@jest/globals';
import { isAnalyzed } from './elements.ts';

it.each([
  [{ copyspace: [] }, true],
  [{ color_names: ['red'] }, true],
  [{ is_isolated: true, team_rerank: 3 }, false],
  [{ title: 'no picture' }, false],
])('a document with %j is analyzed: %s', (fields, expected) => {
  expect(isAnalyzed({ id: '1', ...fields })).toBe(expected);
});
