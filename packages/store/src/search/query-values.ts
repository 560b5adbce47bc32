import { AkinError, type FieldType, parseDate, quote } from '@akin/domain';
import { type Clock, readDateMath } from './date-math.ts';

/** What a field is called in a message, and what its values look like. */
const TYPE_NAMES: Record<FieldType, string> = {
  boolean: 'a Boolean (true or false)',
  long: 'a Long (an integer)',
  longs: 'a list of Longs (integers)',
  double: 'a Double (a number)',
  doubles: 'a list of Doubles (numbers)',
  date: 'a date (such as 2024-01-31, 2024-01-31T12:30:00Z or NOW-7DAYS)',
  string: 'a String',
  strings: 'a list of Strings',
  location: 'a location (lat,lon in degrees)',
  text: 'the words of all strings',
};

/** The error of a value that does not fit the field it is compared with. */
export function misfit(field: string, type: FieldType, value: string, position: number): AkinError {
  return clauseError(position, `${quote(value)} does not fit the field ${quote(field)}, which is ${TYPE_NAMES[type]}`);
}

/** An error about one clause of a query that could be read. Characters are counted from 1. */
export function clauseError(position: number, problem: string): AkinError {
  return new AkinError('bad-request', `The query is wrong at character ${position + 1}: ${problem}.`);
}

export function readBoolean(text: string): boolean | null {
  if (/^(?:true|t|1)$/i.test(text)) return true;
  return /^(?:false|f|0)$/i.test(text) ? false : null;
}

const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?$/;
/** Longer numbers hold no value that a column could hold. */
const MAX_DIGITS = 400;

export function readDouble(text: string): number | null {
  if (text.length > MAX_DIGITS || !NUMBER.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

export const LEAST_LONG = -(2n ** 63n);
export const GREATEST_LONG = 2n ** 63n - 1n;

/**
 * A number among the integers: `floor` is the greatest that is not above it, `exact` whether that is the number itself.
 * Not limited to 64 bits. Null when the text is no number.
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

/** What a date in a query stands for: a day for the whole day in UTC, anything finer for that millisecond. */
export function readDate(text: string, clock: Clock): Span | null {
  const first = parseDate(text) ?? readDateMath(text, clock);
  if (first === null) return null;
  const length = text.length === 'YYYY-MM-DD'.length && text[4] === '-' ? DAY_MILLISECONDS : 1;
  return { first, next: new Date(first.getTime() + length) };
}
