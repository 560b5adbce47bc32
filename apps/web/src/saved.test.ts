import { expect, it } from '@jest/globals';
import { readSaved } from './saved.ts';

const LAMP = { name: 'the red lamp', address: '?q=lamp' };

it.each([
  [null, []],
  ['', []],
  ['{', []],
  ['{"name":"x"}', []],
  [JSON.stringify([LAMP, null, 7, { name: 'x' }, { name: 1, address: '?' }]), [LAMP]],
  [JSON.stringify(Array.from({ length: 99 }, () => LAMP)), Array.from({ length: 50 }, () => LAMP)],
])('reads what a browser keeps, whatever that is: %s', (text, searches) => {
  expect(readSaved(text)).toEqual(searches);
});
