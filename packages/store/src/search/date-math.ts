import { AkinError, fixedOffset, parseDate } from '@akin/domain';

/** The context of dates in a query. */
export interface Clock {
  /** The value of `NOW`: one moment for a whole request. */
  readonly now: Date;
  /** The time zone, by its IANA name or as `GMT+1`, in whose calendar date math counts and rounds. */
  readonly timeZone: string;
}

const UNITS = ['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND', 'MILLISECOND'] as const;
type Unit = (typeof UNITS)[number];

const SPELLINGS: ReadonlyMap<string, Unit> = new Map([
  ...UNITS.flatMap((unit): [string, Unit][] => [
    [unit, unit],
    [`${unit}S`, unit],
  ]),
  ['DATE', 'DAY'],
  ['MILLI', 'MILLISECOND'],
  ['MILLIS', 'MILLISECOND'],
]);

const MATH = /(?:[+-][0-9]{1,9}[A-Z]+|\/[A-Z]+)*$/;
const STEP = /([+-])([0-9]+)([A-Z]+)|\/([A-Z]+)/g;
/** The expression above looks from every character on. */
const MAX_LENGTH = 200;

/**
 * The instant of `NOW` or a date, followed by steps from left to right: `+6MONTHS` and `-7DAYS` count in the calendar
 * of the zone, `/DAY` rounds down to the beginning of the day there. Null for any other text.
 */
export function readDateMath(text: string, clock: Clock): Date | null {
  if (text.length > MAX_LENGTH) return null;
  const math = MATH.exec(text)?.[0] ?? '';
  const base = text.slice(0, text.length - math.length);
  const date = base === 'NOW' ? clock.now : parseDate(base);
  return date && takeSteps(date, math, clock.timeZone);
}

/**
 * A date moved only by date math, such as `+1MONTH`. Null for any other text, or if the result is beyond the range of a
 * date field.
 */
export function addDateMath(date: Date, math: string, timeZone: string): Date | null {
  return math.length <= MAX_LENGTH && math !== '' && MATH.exec(math)?.[0] === math
    ? takeSteps(date, math, timeZone)
    : null;
}

function takeSteps(start: Date, math: string, timeZone: string): Date | null {
  let date: Date | null = start;
  const steps = [...math.matchAll(STEP)];
  for (const [, sign, count, added, rounded] of steps) {
    const unit = SPELLINGS.get(added ?? rounded ?? '');
    if (date === null || unit === undefined) return null;
    date = added === undefined ? round(date, unit, timeZone) : add(date, Number(`${sign}${count}`), unit, timeZone);
  }
  return date;
}

const LENGTHS: Partial<Record<Unit, number>> = { HOUR: 3_600_000, MINUTE: 60_000, SECOND: 1_000, MILLISECOND: 1 };

function add(date: Date, count: number, unit: Unit, timeZone: string): Date | null {
  const length = LENGTHS[unit];
  if (length !== undefined) return inRange(new Date(date.getTime() + count * length));
  const local = toLocal(date, timeZone);
  const day = local.getUTCDate();
  if (unit === 'DAY') local.setUTCDate(day + count);
  else {
    local.setUTCDate(1);
    local.setUTCMonth(local.getUTCMonth() + (unit === 'YEAR' ? 12 * count : count));
    // January 31 plus a month is the last day of February.
    const last = new Date(local);
    last.setUTCMonth(last.getUTCMonth() + 1, 0);
    local.setUTCDate(Math.min(day, last.getUTCDate()));
  }
  return inRange(local) && fromLocal(local, timeZone);
}

function round(date: Date, unit: Unit, timeZone: string): Date | null {
  const local = toLocal(date, timeZone);
  const depth = UNITS.indexOf(unit);
  if (depth < 1) local.setUTCMonth(0);
  if (depth < 2) local.setUTCDate(1);
  if (depth < 3) local.setUTCHours(0);
  if (depth < 4) local.setUTCMinutes(0);
  if (depth < 5) local.setUTCSeconds(0);
  if (depth < 6) local.setUTCMilliseconds(0);
  return fromLocal(local, timeZone);
}

/** A date whose UTC fields are the fields of the calendar in the zone. */
function toLocal(date: Date, timeZone: string): Date {
  return new Date(date.getTime() + offsetAt(date, timeZone));
}

/** The reverse. A time that the clocks skip counts as the one an hour later. */
function fromLocal(local: Date, timeZone: string): Date {
  const guess = new Date(local.getTime() - offsetAt(local, timeZone));
  return new Date(local.getTime() - offsetAt(guess, timeZone));
}

/** The offset of the zone from UTC, in milliseconds. */
function offsetAt(date: Date, timeZone: string): number {
  if (timeZone === 'UTC') return 0;
  const fixed = fixedOffset(timeZone);
  if (fixed !== undefined) return fixed;
  const fields: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(date)) fields[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second);
  return local.getTime() - Math.floor(date.getTime() / 1000) * 1000;
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
    throw new AkinError(
      'bad-request',
      `TZ=${JSON.stringify(timeZone.slice(0, 60))} is not a time zone; use a name such as Europe/Berlin.`,
      { cause },
    );
  }
}

/** The range of a date field. */
function inRange(date: Date): Date | null {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date : null;
}
