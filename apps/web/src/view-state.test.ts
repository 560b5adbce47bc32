import { expect, it } from '@jest/globals';
import { readState } from './view-state.ts';

it.each([
  ['hex=%23d02030', 'color'],
  ['hex=%23d02030&mode=duplicate', 'color'],
  ['shows=boats&mode=color', 'content'],
  ['like=a&mode=duplicate', 'duplicate'],
  ['like=a&mode=other', 'content'],
])('reads ?%s as a search by %s', (address, mode) => {
  expect(readState(new URLSearchParams(address)).mode).toBe(mode);
});
