import { parseDate } from './dates.ts';
import { badRequest } from './errors.ts';
import { quote } from './text.ts';

const DAY_MILLISECONDS = 86_400_000;

/**
 * Parses an expiry time: a date or time, or a number of days from now, such as `90d`.
 * @throws AkinError bad-request
 */
export function parseExpiry(text: string, now: Date = new Date()): Date {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  const time = days === undefined ? parseDate(text) : new Date(now.getTime() + Number(days) * DAY_MILLISECONDS);
  if (time !== null) return time;
  throw badRequest(`expires must be a date, a time, or days as 90d; it is ${quote(text)}.`);
}
