import { expect, it } from '@jest/globals';
import { readQueryString } from '../parameters/parameters.ts';
import { warnAboutSwitches } from './warn-about-switches.ts';

it.each([
  ['facet.field=labels', ['facet.field', 'facet=true']],
  ['facet.query=a:1&facet.query=a:2', ['facet.query', 'facet=true']],
  ['facet.range=price&facet.range.gap=1', ['facet.range', 'facet=true']],
  ['stats.field=price', ['stats.field', 'stats=true']],
  ['group.field=sku&group.limit=2', ['group.field', 'group=true']],
  ['expand.rows=3', ['expand.rows', 'expand=true']],
  ['rank.threshold=0.5', ['rank.threshold', 'rank.by.*']],
  ['facet=true&facet.field=labels', undefined],
  ['facet=false&facet.field=labels', undefined],
  ['facet.field=&facet.limit=5', undefined],
])('%s', (query, warned) => {
  const expected = warned === undefined ? [] : [`Parameter ${warned[0]} has no effect without ${warned[1]}.`];
  expect(warnAboutSwitches(readQueryString(query, 100), false)).toEqual(expected);
});

it('leaves a threshold of a ranking alone', () => {
  expect(warnAboutSwitches([['rank.threshold', '0.5']], true)).toEqual([]);
});
