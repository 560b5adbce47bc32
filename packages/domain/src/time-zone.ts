import { badRequest } from './errors.ts';

const OFFSET = /^GMT([+-])(\d{1,2})(?::?([0-5]\d))?$/;

/**
 * The offset from UTC of a zone such as `GMT+1` or `GMT-03:30`, without daylight saving time; undefined for other
 * zones. The spellings are those of Java, which Solr accepts: hours up to 23, with one digit or two.
 * @returns milliseconds
 */
export function fixedOffset(zone: string): number | undefined {
  const [, sign, hours, minutes = '0'] = OFFSET.exec(zone) ?? [];
  if (hours === undefined || Number(hours) > 23) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '-' ? -offset : offset;
}

/** Whether date math supports a time zone: a name, such as Europe/Berlin, or an offset from GMT. */
export function isTimeZone(zone: string): boolean {
  if (fixedOffset(zone) !== undefined) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

const DAY = 86_400_000;
/** No zone changed its clocks before, and `Intl` formats dates before 1582 by the Julian calendar. */
const BEFORE_CHANGES = Date.UTC(1700, 0, 1);

/**
 * The wall clock of a zone at an instant. Wall clocks are dates whose UTC fields are those of the calendar and the clock
 * in the zone.
 */
export function wallClockAt(instant: Date, timeZone: string): Date {
  return new Date(instant.getTime() + offsetAt(instant.getTime(), timeZone));
}

/**
 * The instant at which the clocks of a zone show a time. If they show it twice, it is the earlier; if they skip it, the
 * time moves later by the length of the gap. These are the rules of java.time and of Temporal (`compatible`).
 */
export function instantOf(wallClock: Date, timeZone: string): Date {
  const { shown, before } = readings(wallClock, timeZone);
  return new Date(shown ?? wallClock.getTime() - before);
}

/** The first instant at which the clocks of a zone show a time or, if they skip it, a later one. */
export function firstInstantFrom(wallClock: Date, timeZone: string): Date {
  const { shown, before, after } = readings(wallClock, timeZone);
  if (shown !== undefined) return new Date(shown);
  // The clocks change between these two.
  let low = wallClock.getTime() - after;
  let high = wallClock.getTime() - before;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle, timeZone) === before) low = middle;
    else high = middle;
  }
  return new Date(high);
}

/** The latest instant up to `instant` at which the clocks showed `wallClock`, in the same reading if they showed it twice. */
export function lastInstantOf(wallClock: Date, instant: Date, timeZone: string): Date {
  const offset = offsetAt(instant.getTime(), timeZone);
  const sameReading = wallClock.getTime() - offset;
  return offsetAt(sameReading, timeZone) === offset ? new Date(sameReading) : firstInstantFrom(wallClock, timeZone);
}

/**
 * @returns `shown`: the first instant at which the clocks show this, if they do; `before` and `after`: the offsets
 * around it
 */
function readings(wallClock: Date, timeZone: string): { shown?: number; before: number; after: number } {
  const time = wallClock.getTime();
  // The clocks of no zone change twice within two days.
  const [before, after] = [offsetAt(time - DAY, timeZone), offsetAt(time + DAY, timeZone)];
  // With the greater offset it is the earlier instant: where the clocks went back, that is the one before.
  const shown = [before, after].find((offset) => offsetAt(time - offset, timeZone) === offset);
  return shown === undefined ? { before, after } : { shown: time - shown, before, after };
}

/** The offset of a zone from UTC at an instant, both in milliseconds. */
function offsetAt(instant: number, timeZone: string): number {
  if (timeZone === 'UTC') return 0;
  const fixed = fixedOffset(timeZone);
  if (fixed !== undefined) return fixed;
  const seconds = Math.floor(Math.max(instant, BEFORE_CHANGES) / 1000) * 1000;
  const fields: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(seconds)) fields[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
  return Date.UTC(year, month - 1, day, hour, minute, second) - seconds;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  try {
    const numeric = 'numeric';
    const format = new Intl.DateTimeFormat('en-u-ca-iso8601', {
      timeZone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
    // There are few zones, and an invalid name was refused above.
    formats.set(timeZone, format);
    return format;
  } catch (cause) {
    throw badRequest(
      `TZ=${JSON.stringify(timeZone.slice(0, 60))} is not a time zone; use a name such as Europe/Berlin.`,
      { cause },
    );
  }
}
