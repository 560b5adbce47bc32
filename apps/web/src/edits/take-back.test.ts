import { expect, it } from '@jest/globals';
import { takeBack } from './take-back.ts';

const TAKEN = { id: 'a', _version_: 1, place: { set: 'Rome' }, labels: { 'add-distinct': ['x', 'y'] } } as const;

it.each([
  [
    { id: 'a', place: 'Rome', labels: ['own', 'x', 'y'] },
    { id: 'a', _version_: 1, place: { set: null }, labels: { remove: ['x', 'y'] } },
  ],
  [
    { id: 'a', place: 'edited since', labels: ['x'] },
    { id: 'a', _version_: 1, labels: { remove: ['x'] } },
  ],
  [{ id: 'a', place: 'edited since' }, undefined],
  [undefined, undefined],
])('of %j takes back %j', (now, update) => {
  expect(takeBack(TAKEN, now)).toEqual(update);
});
