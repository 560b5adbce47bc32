import { expect, it } from '@jest/globals';
import { otherQueries } from './ways-on.ts';

it.each([
  ['dog', ['dog*', 'dog~1']],
  ['red shoes', ['red* AND shoes*', 'red~1 AND shoes~1']],
  ['umbrellas', ['umbrellas*', 'umbrellas~2']],
  ['at sea', ['at* AND sea*', 'at AND sea~1']],
  ["it's, über", ['it* AND s* AND über*', 'it AND s AND über~1']],
  ['price:[1 TO 2]', []],
  ['dog*', []],
  ['', []],
  ['!', []],
  ['a b c d e f g h i', []],
])('for the words %j there are the queries %j', (words, queries) => {
  expect(otherQueries(words).map((way) => way.words)).toEqual(queries);
});
