/** The time on the clock where a picture was taken, and the zone of that clock if it is known. */
export interface WallTime {
  /** Milliseconds since 1970 as if the clock showed UTC. */
  readonly clock: number;
  /** Minutes ahead of UTC. */
  readonly offset?: number;
}

/** The first photograph is from 1826. */
const FIRST_YEAR = 1826;
const MAX_OFFSET = 14 * 60;
const MINUTE = 60_000;

const DATE = String.raw`(\d{4})(?:[:\-/. ] ?(\d{1,2})(?:[:\-/. ] ?(\d{1,2}))?)?`;
const TIME = String.raw`(\d{1,2}):[ ]?(\d{1,2})(?::[ ]?(\d{1,2})(?:[.,](\d{1,9})\d*)?)?(?: ?([AP])M)?`;
const ZONE = String.raw`(Z|UTC|GMT|[+-]\d{1,2}:?(?:\d{2})?)?`;
const DATE_TIME = new RegExp(`^${DATE}(?:(?:T| {1,3})${TIME} ?${ZONE})?$`, 'i');

/**
 * Reads a date as cameras and programs write it in EXIF and XMP: `2019:05:04 14:00:00`, with dashes, slashes, blanks
 * instead of zeros, without seconds, with fractions or a zone, or only a year or a month, which begin at their first
 * day. Undefined for other texts and for dates that do not exist.
 */
export function parseWallTime(text: string): WallTime | undefined {
  const found = DATE_TIME.exec(text.slice(0, 60).replace(/\0.*/s, '').trim());
  if (!found) return undefined;
  const [, year, month = '', day = '', hour = '0', minute = '0', second = '0', fraction = '', half, zone] = found;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3));
  // Zeros stand for an unknown month and day.
  const clock = clockOf(Number(year), Number(month) || 1, Number(day) || 1, hours, +minute, +second, milliseconds);
  return clock === undefined ? undefined : withOffset(clock, parseOffset(zone));
}

/** Undefined for dates that do not exist, and for those before photography. */
export function clockOf(
  year: number,
  month: number,
  day: number,
  hour = 0,
  minute = 0,
  second = 0,
  millisecond = 0,
): number | undefined {
  if (year < FIRST_YEAR || year > 9999 || hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second, millisecond));
  // Date turns 30 February into a day in March.
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined;
}

/** Minutes of a zone such as `+02:00`, `-0530`, `+9` or `Z`; undefined for other texts. */
export function parseOffset(text: string | undefined): number | undefined {
  const zone = text?.replace(/\0.*/s, '').trim() ?? '';
  if (/^(Z|UTC|GMT)$/i.test(zone)) return 0;
  const found = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone);
  if (!found) return undefined;
  const minutes = Number(found[2]) * 60 + Number(found[3] ?? 0);
  if (minutes > MAX_OFFSET || Number(found[3] ?? 0) > 59) return undefined;
  return found[1] === '-' ? 0 - minutes : minutes;
}

/** The zones that are not multiples of half an hour, in minutes: Nepal, Eucla, and Chatham in winter and summer. */
const QUARTERS = [345, 525, 765, 825];

/** The zone of a clock, from an instant that is known to be the same moment, or a little earlier. */
export function offsetBetween(clock: number, instant: number): number | undefined {
  const minutes = (clock - instant) / MINUTE;
  // A position may be some seconds old.
  const offset = Math.round(minutes / 15) * 15;
  if (offset % 30 !== 0 && !QUARTERS.includes(offset)) return undefined;
  return Math.abs(offset) <= MAX_OFFSET && Math.abs(minutes - offset) <= 2 ? offset : undefined;
}

export function withOffset(clock: number, offset: number | undefined): WallTime {
  return offset === undefined ? { clock } : { clock, offset };
}

/** The moment of a time whose zone is known, in milliseconds since 1970. */
export function instantOf({ clock, offset }: WallTime): number | undefined {
  return offset === undefined ? undefined : clock - offset * MINUTE;
}
