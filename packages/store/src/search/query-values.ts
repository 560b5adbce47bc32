import { AkinError, type FieldType, parseDate, quote } from '@akin/domain';
import { type Clock, readDateMath } from './date-math.ts';

const TYPE_NAMES: Record<FieldType, string> = {
  boolean: 'a Boolean (true or false)',
  long: 'a Long (an integer)',
  longs: 'a list of Longs (integers)',
  double: 'a Double (a number)',
  doubles: 'a list of Doubles (numbers)',
  dates: 'a list of dates (such as 2024-01-31)',
  date: 'a date (such as 2024-01-31, 2024-01-31T12:30:00Z or NOW-7DAYS)',
  string: 'a String',
  strings: 'a list of Strings',
  location: 'a location (lat,lon in degrees)',
  text: 'the words of all strings',
};

export function typeMismatch(field: string, type: FieldType, value: string, position: number): AkinError {
  return clauseError(position, `${quote(value)} does not fit the field ${quote(field)}, which is ${TYPE_NAMES[type]}`);
}

/** An error about one clause of a query that was parsed. Characters are counted from 1. */
export function clauseError(position: number, problem: string): AkinError {
  return new AkinError('bad-request', `The query is wrong at character ${position + 1}: ${problem}.`);
}

export function readBoolean(text: string): boolean | null {
  if (/^(?:true|t|1)$/i.test(text)) return true;
  return /^(?:false|f|0)$/i.test(text) ? false : null;
}

const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?$/;
/** Longer numbers fit into no column. */
const MAX_DIGITS = 400;

export function readDouble(text: string): number | null {
  if (text.length > MAX_DIGITS || !NUMBER.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/**
 * The position of a number among the integers: `floor` is the greatest one that is not above it, `exact` says whether
 * that is the number itself. Not limited to 64 bits. Null if the text is not a number.
 */
export function readInteger(text: string): { readonly floor: bigint; readonly exact: boolean } | null {
  if (text.length > MAX_DIGITS) return null;
  const whole = /^([+-]?)([0-9]+)(?:\.0*)?$/.exec(text);
  if (whole !== null) return { floor: BigInt(`${whole[1] === '-' ? '-' : ''}${whole[2]}`), exact: true };
  const number = readDouble(text);
  if (number === null) return null;
  return { floor: BigInt(Math.floor(number)), exact: Number.isInteger(number) };
}

/** The instants from `first` up to but not including `next`, in milliseconds. */
export interface Span {
  readonly first: Date;
  readonly next: Date;
}

const DAY_MILLISECONDS = 86_400_000;

/** The meaning of a date in a query: a date without a time is the whole day in UTC, any other value one millisecond. */
export function readDate(text: string, clock: Clock): Span | null {
  const first = parseDate(text) ?? readDateMath(text, clock);
  if (first === null) return null;
  const length = text.length === 'YYYY-MM-DD'.length && text[4] === '-' ? DAY_MILLISECONDS : 1;
  return { first, next: new Date(first.getTime() + length) };
}
