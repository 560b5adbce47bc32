import { AkinError } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { readDateMath } from './date-math.ts';
import { rangesOf } from './facet-ranges.ts';

const now = new Date('2024-03-31T12:34:56.789Z');

function read(text: string, timeZone = 'UTC'): string | undefined {
  return readDateMath(text, { now, timeZone })?.toISOString();
}

describe('date math', () => {
  it.each([
    ['NOW', '2024-03-31T12:34:56.789Z'],
    ['NOW-7DAYS', '2024-03-24T12:34:56.789Z'],
    ['NOW/DAY', '2024-03-31T00:00:00.000Z'],
    ['NOW/DAY+1DAY', '2024-04-01T00:00:00.000Z'],
    ['NOW/YEAR', '2024-01-01T00:00:00.000Z'],
    ['NOW/MONTH', '2024-03-01T00:00:00.000Z'],
    ['NOW/HOUR-30MINUTES', '2024-03-31T11:30:00.000Z'],
    ['NOW/SECOND+1MILLI', '2024-03-31T12:34:56.001Z'],
    ['NOW-1MONTH', '2024-02-29T12:34:56.789Z'],
    ['NOW-1YEAR-1MONTH', '2023-02-28T12:34:56.789Z'],
    ['2024-02-29T00:00:00Z+1YEAR', '2025-02-28T00:00:00.000Z'],
    ['2024-01-31T10:00+02:00+1MONTH/MONTH', '2024-02-01T00:00:00.000Z'],
    ['2024-05-05/MONTH', '2024-05-01T00:00:00.000Z'],
  ])('reads %s as %s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it('rounds and counts days in the calendar of the zone', () => {
    // Clocks went forward at 2024-03-31T01:00Z in Berlin: that day has 23 hours.
    expect(read('NOW/DAY', 'Europe/Berlin')).toBe('2024-03-30T23:00:00.000Z');
    expect(read('NOW/DAY+1DAY', 'Europe/Berlin')).toBe('2024-03-31T22:00:00.000Z');
    expect(read('NOW/DAY+24HOURS', 'Europe/Berlin')).toBe('2024-03-31T23:00:00.000Z');
    expect(read('NOW/HOUR', 'Asia/Kolkata')).toBe('2024-03-31T12:30:00.000Z');
    expect(read('NOW/MONTH', 'America/Los_Angeles')).toBe('2024-03-01T08:00:00.000Z');
    expect(read('NOW/DAY', 'GMT+1')).toBe('2024-03-30T23:00:00.000Z');
    expect(read('NOW/DAY+1DAY', 'GMT-03:30')).toBe('2024-04-01T03:30:00.000Z');
  });

  it.each([
    ['Europe/Berlin', '2024-10-27T00:30:00.000Z', 'NOW/MINUTE', '2024-10-27T00:30:00.000Z'],
    ['Europe/Berlin', '2024-10-27T01:30:00.000Z', 'NOW/HOUR', '2024-10-27T01:00:00.000Z'],
    ['Europe/Berlin', '2024-10-26T00:30:00.000Z', 'NOW+1DAY', '2024-10-27T00:30:00.000Z'],
    ['America/Santiago', '2024-09-08T15:00:00.000Z', 'NOW/DAY', '2024-09-08T04:00:00.000Z'],
    ['America/Santiago', '2024-09-08T15:00:00.000Z', 'NOW/DAY+1DAY', '2024-09-09T03:00:00.000Z'],
    ['America/Havana', '2024-11-03T15:00:00.000Z', 'NOW/DAY', '2024-11-03T04:00:00.000Z'],
    // The clocks went from 0:01 to 1:01, so that the hour began with its second minute.
    ['America/St_Johns', '2010-03-14T03:50:00.000Z', 'NOW/HOUR', '2010-03-14T03:31:00.000Z'],
    ['America/New_York', '2024-03-09T07:30:00.000Z', 'NOW+1DAY', '2024-03-10T07:30:00.000Z'],
    // That day does not exist there.
    ['Pacific/Apia', '2011-12-29T20:00:00.000Z', 'NOW+1DAY', '2011-12-30T20:00:00.000Z'],
    ['Europe/Berlin', '0001-01-01T12:00:00.000Z', 'NOW+1DAY', '0001-01-02T12:00:00.000Z'],
  ])('counts in %s, where the clocks change: at %s, %s is %s', (timeZone, at, text, expected) => {
    expect(readDateMath(text, { now: new Date(at), timeZone })?.toISOString()).toBe(expected);
  });

  it.each([
    ['America/Santiago', '2024-09-07', 4, ['07T04:00', '08T04:00', '09T03:00', '10T03:00', '11T03:00']],
    ['Africa/Cairo', '2023-04-27', 2, ['26T22:00', '27T22:00', '28T21:00']],
    // Without 30 December.
    ['Pacific/Apia', '2011-12-29', 3, ['29T10:00', '30T10:00', '31T10:00']],
  ])('begins each day in %s with its first instant', (timeZone, day, days, starts) => {
    const clock = { now: new Date(`${day}T18:00:00Z`), timeZone };
    const bounds = { start: 'NOW/DAY', end: `NOW/DAY+${days}DAYS`, gap: '+1DAY', hardEnd: false };
    const { edges } = rangesOf(bounds, 'date', clock, (problem) => new AkinError('bad-request', problem));
    expect(edges.map((edge) => (edge as Date).toISOString().slice(8, 16))).toEqual(starts);
  });

  it.each([
    'now',
    'NOW+1',
    'NOW+DAY',
    'NOW/WEEK',
    'NOW-1FORTNIGHT',
    'NOWDAY',
    '',
    '+1DAY',
    'NOW+999999999YEARS',
    `NOW${'+1DAY'.repeat(60)}`,
    `${'+1A'.repeat(300_000)}x`,
  ])('does not read %.40s', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it('names a zone that is none', () => {
    expect(() => read('NOW/DAY', 'Mars/Olympus')).toThrow('Mars/Olympus');
  });
});
