import { expect, it } from '@jest/globals';
import { searchRequest } from '../view-state.ts';
import { eachField, eachFieldOf, eachFilter } from './each-filter.ts';

it.each(['brand', "its 'own' \\ field", 'a}b'])('one of each is a filter that tells its field: %s', (field) => {
  const filter = eachFilter(field);
  expect([eachFieldOf(filter), eachField(['brand:"x"', filter])]).toEqual([field, field]);
  expect(eachFieldOf(`${filter} OR x`)).toBeUndefined();
  expect(eachFieldOf('{!collapse field=brand}')).toBeUndefined();
});

it('asks for the number of the others', () => {
  const state = { mode: 'content', query: null, words: 'x', sort: '', filters: [eachFilter('brand')] } as never;
  expect(searchRequest(state, 0, 10).parameters).toMatchObject({ expand: true, 'expand.rows': 0 });
});
