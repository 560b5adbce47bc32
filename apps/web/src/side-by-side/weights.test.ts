import { expect, it } from '@jest/globals';
import { readState, searchRequest } from '../view-state.ts';
import { weightedInputs, withWeights } from './weights.ts';

it.each([
  ['like=a&more=b&less=c', [1, -0.5], [0.25, -2], { 'rank.weights': '1,0.25,-2' }],
  ['url=u&more=b', [1], [2], { 'rank.weights': '2,1' }],
  ['hex=%23ff0000:3,%23ffffff', [3, 1], [1, 10], { 'rank.by.hex': '#ff0000:1,#ffffff:10' }],
  ['hex=%23ff0000', [], [], { 'rank.by.hex': '#ff0000' }],
  ['like=a', [], [], { 'rank.by.id': ['a'] }],
])('weighs the inputs of ?%s, which are %j, with new weights: %j', (address, before, after, parameters) => {
  const state = readState(`?${address}`);
  expect(weightedInputs(state).map(({ weight }) => weight)).toEqual(before);
  expect(withWeights(state, undefined)).toBe(state);
  expect(searchRequest(withWeights(state, after), 0, 1).parameters).toMatchObject(parameters);
});
