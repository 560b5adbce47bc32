import { firstInstantFrom, instantOf, lastInstantOf, parseDate, wallClockAt } from '@akin/domain';

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
 * A moment between two steps of date math. Its wall clock may be a time that the clocks of the zone skipped: a day whose
 * midnight they skip begins later, and yet the next day begins at midnight.
 */
export interface Moment {
  readonly date: Date;
  /** See `wallClockAt`. Absent: that of the date. */
  readonly wallClock?: Date;
}

/**
 * `NOW` or a date, followed by steps from left to right: `+6MONTHS` and `-7DAYS` count in the calendar of the zone and
 * keep the wall clock, `/DAY` rounds down to the beginning of the day there. Null for any other text.
 */
export function readMoment(text: string, clock: Clock): Moment | null {
  if (text.length > MAX_LENGTH) return null;
  const math = MATH.exec(text)?.[0] ?? '';
  const base = text.slice(0, text.length - math.length);
  const date = base === 'NOW' ? clock.now : parseDate(base);
  return date && takeSteps({ date }, math, clock.timeZone);
}

/** The instant of {@link readMoment}. */
export function readDateMath(text: string, clock: Clock): Date | null {
  return readMoment(text, clock)?.date ?? null;
}

/**
 * A moment moved only by date math, such as `+1MONTH`. Null for any other text, or if the result is beyond the range of
 * a date field.
 */
export function addDateMath(moment: Moment, math: string, timeZone: string): Moment | null {
  return math.length <= MAX_LENGTH && math !== '' && MATH.exec(math)?.[0] === math
    ? takeSteps(moment, math, timeZone)
    : null;
}

function takeSteps(start: Moment, math: string, timeZone: string): Moment | null {
  let moment: Moment | null = start;
  for (const [, sign, count, added, rounded] of math.matchAll(STEP)) {
    const unit = SPELLINGS.get(added ?? rounded ?? '');
    if (moment === null || unit === undefined) return null;
    moment =
      added === undefined ? round(moment.date, unit, timeZone) : add(moment, Number(`${sign}${count}`), unit, timeZone);
  }
  return moment;
}

const LENGTHS: Partial<Record<Unit, number>> = { HOUR: 3_600_000, MINUTE: 60_000, SECOND: 1_000, MILLISECOND: 1 };

function add({ date, wallClock }: Moment, count: number, unit: Unit, timeZone: string): Moment | null {
  const length = LENGTHS[unit];
  if (length !== undefined) return inRange({ date: new Date(date.getTime() + count * length) });
  const local = new Date(wallClock ?? wallClockAt(date, timeZone));
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
  return inRange({ date: local }) && inRange({ date: instantOf(local, timeZone), wallClock: local });
}

/** Never later than `date`. */
function round(date: Date, unit: Unit, timeZone: string): Moment {
  const wallClock = wallClockAt(date, timeZone);
  const depth = UNITS.indexOf(unit);
  if (depth < 1) wallClock.setUTCMonth(0);
  if (depth < 2) wallClock.setUTCDate(1);
  if (depth < 3) wallClock.setUTCHours(0);
  if (depth < 4) wallClock.setUTCMinutes(0);
  if (depth < 5) wallClock.setUTCSeconds(0);
  if (depth < 6) wallClock.setUTCMilliseconds(0);
  // An hour that the clocks show twice is two hours; a day of which they show a part twice is one day.
  const first = depth < 3 ? firstInstantFrom(wallClock, timeZone) : lastInstantOf(wallClock, date, timeZone);
  return { date: first, wallClock };
}

/** The range of a date field. */
function inRange(moment: Moment): Moment | null {
  const year = moment.date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? moment : null;
}
