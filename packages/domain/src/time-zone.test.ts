import { describe, expect, it } from '@jest/globals';
import { fixedOffset, isTimeZone } from './time-zone.ts';

describe('zones without a name', () => {
  it.each([
    ['GMT+1', 60],
    ['GMT+01', 60],
    ['GMT-10:30', -630],
    ['GMT+0545', 345],
    ['GMT-0', 0],
    ['GMT+23:59', 1439],
  ])('%s is %p minutes ahead', (zone, minutes) => {
    expect((fixedOffset(zone) ?? Number.NaN) / 60_000).toBeCloseTo(minutes);
    expect(isTimeZone(zone)).toBe(true);
  });

  it.each(['GMT+24', 'GMT+1:60', 'GMT+1:5', 'GMT 1', 'GMT+', 'UTC+1', 'gmt+1', 'GMT+1 ', '', 'Nowhere/City'])(
    '%j is none',
    (zone) => {
      expect([fixedOffset(zone), isTimeZone(zone)]).toEqual([undefined, false]);
    },
  );

  it.each(['UTC', 'GMT', 'Europe/Berlin', 'America/St_Johns', 'EST', 'Etc/GMT+5'])('%s has a name', (zone) => {
    expect([fixedOffset(zone), isTimeZone(zone)]).toEqual([undefined, true]);
  });
});
