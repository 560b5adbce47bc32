const DATE =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(?:Z|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?$/;

/** The first and the last millisecond that a date field holds: years 0001 to 9999, in UTC. */
const FIRST = new Date(0).setUTCFullYear(1, 0, 1);
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Parses a date, or returns null if the text is not a date. Forms: `YYYY-MM-DD`, `YYYY-MM-DDThh:mm`, `…:ss`, with 1 to
 * 9 fraction digits (truncated to milliseconds). A time may be followed by `Z`, `±hh`, `±hhmm` or `±hh:mm`; without a
 * zone it is UTC. Impossible dates (2023-02-30, hour 24, second 60) return null.
 */
export function parseDate(text: string): Date | null {
  // Most strings are not dates: this check avoids the regular expression.
  if (text.length < 10 || text.length > 35 || text.charCodeAt(4) !== 0x2d) return null;
  const found = DATE.exec(text);
  if (found === null) return null;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '', sign, offsetHour = 0, offsetMinute = 0] =
    found;
  if (+hour > 23 || +minute > 59 || +second > 59 || +offsetHour > 23 || +offsetMinute > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // `Date` turns 2023-02-30 into a day in March.
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  const offset = (+offsetHour * 60 + +offsetMinute) * (sign === '-' ? -1 : 1);
  date.setUTCHours(+hour, +minute - offset, +second, Number(fraction.slice(0, 3).padEnd(3, '0')));
  return date.getTime() < FIRST || date.getTime() > LAST ? null : date;
}

/** Formats a date in UTC, with milliseconds only if they are not zero: `2020-01-02T03:04:05Z`. */
export function formatDate(date: Date): string {
  return date.toISOString().replace('.000Z', 'Z');
}
