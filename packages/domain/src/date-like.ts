import { quote } from './text.ts';

const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?';
const WEEKDAY = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\\.?,?\\s+)?';
const TIME =
  '(?:(?:T|,|\\s)\\s*\\d{1,2}(?::?\\d{2}){0,2}(?:[.,]\\d{1,9})?\\s*(?:[ap]\\.?m\\.?)?\\s*(?:z|[a-z]{2,5}|[+-]\\d{2}:?\\d{0,2})?)?';
const DAY_OF_MONTH = '\\d{1,2}(?:st|nd|rd|th|\\.)?';

/** Dates as SQL, EXIF, mail and people write them. */
const FORMS = [
  // 2024-01-31 10:00:00, 2024/1/31, 2024:01:31 10:00:00
  `\\d{4}([-/.:])\\d{1,2}\\1\\d{1,2}${TIME}`,
  // 31.01.2024, 1/31/2024 10:00 PM
  `\\d{1,2}([-/.])\\d{1,2}\\2\\d{4}${TIME}`,
  // 20240131T100000Z
  '\\d{8}T\\d{4,6}(?:\\.\\d{1,9})?(?:z|[+-]\\d{2}:?\\d{0,2})?',
  // Wed, 31 Jan 2024 10:00:00 GMT, 31-Jan-2024
  `${WEEKDAY}${DAY_OF_MONTH}[\\s-]+${MONTH},?[\\s-]+\\d{4}${TIME}`,
  // January 31, 2024
  `${WEEKDAY}${MONTH}\\s+${DAY_OF_MONTH},?\\s+\\d{4}${TIME}`,
  // Wed Jan 31 10:00:00 2024
  `${WEEKDAY}${MONTH}\\s+\\d{1,2}\\s+\\d{1,2}:\\d{2}(?::\\d{2})?(?:\\s+[a-z]{2,5})?\\s+\\d{4}`,
  // Wed Jan 31 2024 10:00:00 GMT+0100 (Central European Standard Time), as JavaScript writes it
  `${WEEKDAY}${MONTH}\\s+\\d{1,2}\\s+\\d{4}\\s+\\d{1,2}:\\d{2}(?::\\d{2})?\\s+[a-z]{2,5}[+-]\\d{2}:?\\d{2}(?:\\s+\\([^()]*\\))?`,
];
const DATE_LIKE = new RegExp(`^\\s*(?:${FORMS.join('|')})\\s*$`, 'i');
/** Longer texts are sentences. */
const MAX_LENGTH = 100;

/** Whether a text that {@link parseDate} does not read is nevertheless a date, in another form. */
export function looksLikeDate(text: string): boolean {
  return text.length >= 8 && text.length <= MAX_LENGTH && /\d/.test(text) && DATE_LIKE.test(text);
}

/** For documents and for queries. */
export function stringDateWarning(field: string): string {
  return `The field ${quote(field)} holds Strings, which are compared letter by letter, and not dates: akin reads dates as 2024-01-31 or 2024-01-31T10:00:00Z.`;
}
