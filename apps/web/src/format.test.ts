import { expect, it } from '@jest/globals';
import { zone } from './format.ts';

it.each([
  ['2019-05-04T14:00:00Z', '2019-05-04T12:00:00Z', ' (UTC+02:00)'],
  ['2024-02-21T10:14:00Z', '2024-02-21T15:44:00Z', ' (UTC−05:30)'],
  ['2019-05-04T14:00:00Z', '2019-05-04T14:00:00Z', ' (UTC+00:00)'],
  ['2019-05-04T14:00:00Z', undefined, ''],
])('names the zone of a clock that showed %s at %s', (clock, moment, name) => {
  expect(zone(clock, moment)).toBe(name);
});
