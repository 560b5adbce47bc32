import { scaledByChaos } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { Temporal } from 'temporal-polyfill';
import { firstInstantFrom, instantOf, lastInstantOf, wallClockAt } from './time-zone.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Zones whose changes are unusual: half an hour, at midnight, one minute after, by 24 hours, by three. */
const UNUSUAL = [
  'Australia/Lord_Howe',
  'America/Santiago',
  'America/St_Johns',
  'Pacific/Apia',
  'Antarctica/Casey',
  'Africa/Casablanca',
];

/** All in a long run, otherwise some that chance chooses. */
function sample<Item>(items: readonly Item[], few: number): Item[] {
  const drawn = items.map((item) => ({ item, order: Math.random() })).sort((a, b) => a.order - b.order);
  return drawn.slice(0, scaledByChaos(few)).map(({ item }) => item);
}

/** The instants at which the clocks of a zone change from 2000 to 2030. */
function changesOf(zone: string): number[] {
  const changes: number[] = [];
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.from('2000-01-01T00:00Z').toZonedDateTimeISO(zone);
  for (;;) {
    at = at.getTimeZoneTransition('next');
    if (at === null || at.epochMilliseconds >= Date.UTC(2031)) return changes;
    changes.push(at.epochMilliseconds);
  }
}

const asDate = (plain: Temporal.PlainDateTime) => new Date(plain.toZonedDateTime('UTC').epochMilliseconds);
const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

describe('clocks that change, as Temporal knows them', () => {
  it('show, repeat and skip times', () => {
    const wrong: string[] = [];
    const compare = (what: string, got: Date, right: number) => {
      if (got.getTime() !== right) wrong.push(`${what}: ${iso(got.getTime())}, not ${iso(right)}`);
    };
    for (const zone of [...UNUSUAL, ...sample(Intl.supportedValuesOf('timeZone'), 8)]) {
      for (const change of sample(changesOf(zone), 8)) {
        const odd = Math.floor(Math.random() * 3 * HOUR);
        for (const distance of [
          -25 * HOUR,
          -HOUR - 1,
          -1,
          0,
          MINUTE,
          25 * MINUTE,
          HOUR,
          odd,
          2 * HOUR + 1,
          23 * HOUR,
        ]) {
          const instant = new Date(change + distance);
          const zoned = Temporal.Instant.fromEpochMilliseconds(change + distance).toZonedDateTimeISO(zone);
          const plain = zoned.toPlainDateTime();
          const at = `${zone} at ${instant.toISOString()}`;
          compare(`clock of ${at}`, wallClockAt(instant, zone), asDate(plain).getTime());
          for (const days of [-1, 0, 1]) {
            const moved = plain.add({ days });
            const right = moved.toZonedDateTime(zone, { disambiguation: 'compatible' });
            compare(`${days} days from ${at}`, instantOf(asDate(moved), zone), right.epochMilliseconds);
          }
          const midnight = asDate(plain.round({ smallestUnit: 'day', roundingMode: 'floor' }));
          compare(`day of ${at}`, firstInstantFrom(midnight, zone), zoned.startOfDay().epochMilliseconds);
          for (const smallestUnit of ['hour', 'minute', 'second'] as const) {
            const floor = asDate(plain.round({ smallestUnit, roundingMode: 'floor' }));
            const rounded = zoned.round({ smallestUnit, roundingMode: 'floor' }).epochMilliseconds;
            // Temporal moves a beginning that the clocks skip by the whole gap, which may be too late.
            const right = rounded <= instant.getTime() ? rounded : change;
            compare(`${smallestUnit} of ${at}`, lastInstantOf(floor, instant, zone), right);
          }
        }
      }
    }
    expect(wrong.slice(0, 20)).toEqual([]);
  });
});
