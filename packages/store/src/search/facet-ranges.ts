import { type AkinError, type FieldType, type FieldValue, MAX_LONG, MIN_LONG, quote, typeName } from '@akin/domain';
import { addDateMath, type Clock, type Moment, readMoment } from './date-math.ts';
import { readDouble, readInteger } from './query-values.ts';

export type RangeInclude = 'lower' | 'upper' | 'edge' | 'outer' | 'all';
export type RangeOther = 'before' | 'after' | 'between' | 'all' | 'none';

/** Numbers or dates from `start` to `end` in steps of `gap`, each given as text. */
export interface RangeBounds {
  readonly start: string;
  readonly end: string;
  /** For dates: date math, such as `+1MONTH`. */
  readonly gap: string;
  /** Whether the last range ends at `end` even if the step goes further. */
  readonly hardEnd: boolean;
}

type RangeEdge = bigint | number | Date;

/** Adjacent ranges: range i goes from edge i to edge i + 1. */
export interface Ranges {
  /** One more than there are ranges. */
  readonly edges: readonly RangeEdge[];
  readonly gap: FieldValue;
  /** Of the edges in SQL. */
  readonly sqlType: 'int8' | 'float8' | 'timestamptz';
}

/** More would be a mistake of the user. */
const MAX_RANGES = 10_000;

/**
 * @param fail creates the error of a problem
 * @throws AkinError bad-request if a bound does not fit the type, or the ranges never end
 */
export function rangesOf(
  bounds: RangeBounds,
  type: FieldType,
  clock: Clock,
  fail: (problem: string) => AkinError,
): Ranges {
  switch (type) {
    case 'long': {
      const read = (name: string, text: string): bigint => {
        const number = readInteger(text.trim());
        if (number?.exact && number.floor >= MIN_LONG && number.floor <= MAX_LONG) return number.floor;
        throw fail(`${name} ${quote(text)} is not a Long`);
      };
      const gap = read('gap', bounds.gap);
      return walk(
        bounds,
        { sqlType: 'int8', gap, read, next: (low) => (low + gap > MAX_LONG ? null : low + gap) },
        fail,
      );
    }
    case 'double': {
      const read = (name: string, text: string): number => {
        const number = readDouble(text.trim());
        if (number === null) throw fail(`${name} ${quote(text)} is not a number`);
        return number;
      };
      const gap = read('gap', bounds.gap);
      return walk(bounds, { sqlType: 'float8', gap, read, next: (low) => low + gap }, fail);
    }
    case 'date': {
      const read = (name: string, text: string): Moment => {
        const moment = readMoment(text.trim(), clock);
        if (moment === null) throw fail(`${name} ${quote(text)} is not a date`);
        return moment;
      };
      // A plus that was not escaped in the URL becomes a blank.
      const gap = bounds.gap.replace(/^ (?=[0-9])/, '+').trim();
      if (/^\d/.test(gap)) throw fail(`gap ${quote(gap)} is not a step: write it as +1DAY`);
      let edge: Moment | null = read('start', bounds.start);
      const step = () => {
        edge = edge && addDateMath(edge, gap, clock.timeZone);
        return edge?.date ?? null;
      };
      // A day that a zone skipped as a whole, to change sides of the date line, has no range.
      const next = (low: Date) => {
        const high = step();
        return high !== null && high <= low ? step() : high;
      };
      return walk(bounds, { sqlType: 'timestamptz', gap, read: (name, text) => read(name, text).date, next }, fail);
    }
    default:
      throw fail(`ranges need a field with numbers or dates, and it is a ${typeName(type)}`);
  }
}

interface Steps<T extends RangeEdge> {
  readonly sqlType: Ranges['sqlType'];
  readonly gap: FieldValue;
  readonly read: (name: string, text: string) => T;
  /** Null: beyond the range of the type. */
  readonly next: (low: T) => T | null;
}

function walk<T extends RangeEdge>(
  { start, end, hardEnd }: RangeBounds,
  { sqlType, gap, read, next }: Steps<T>,
  fail: (problem: string) => AkinError,
): Ranges {
  const [first, last] = [read('start', start), read('end', end)];
  if (last < first) throw fail(`end ${quote(end)} comes before start ${quote(start)}`);
  const edges = [first];
  for (let low = first; low < last; ) {
    if (edges.length > MAX_RANGES) throw fail(`it would have more than ${MAX_RANGES} ranges; make the gap wider`);
    const high = next(low);
    if (high === null || !(high > low)) throw fail(`gap ${quote(String(gap))} leads to no greater value`);
    low = hardEnd && high > last ? last : high;
    edges.push(low);
  }
  return { edges, gap, sqlType };
}

/**
 * Which ranges the values on each edge belong to. What is before the first edge and after the last one counts as a
 * range, too.
 */
export interface EdgeRules {
  /** Whether they belong to the range that ends there. */
  readonly ending: readonly boolean[];
  /** Whether they belong to the range that begins there. */
  readonly beginning: readonly boolean[];
  /** Whether they are between the first and the last edge. */
  readonly between: readonly boolean[];
}

/** The rules of Solr's `facet.range.include`. */
export function edgeRules(include: ReadonlySet<RangeInclude>, edges: number): EdgeRules {
  const has = (...words: RangeInclude[]) => include.has('all') || words.some((word) => include.has(word));
  const [low, high] = [has('lower', 'edge'), has('upper', 'edge')];
  const last = edges - 1;
  const each = (rule: (edge: number) => boolean) => Array.from({ length: edges }, (_, edge) => rule(edge));
  return {
    ending: each((edge) => (edge === 0 ? has('outer') || !low : has('upper') || (edge === last && has('edge')))),
    beginning: each((edge) => (edge === last ? has('outer') || !high : has('lower') || (edge === 0 && has('edge')))),
    between: each((edge) => (edge > 0 || low) && (edge < last || high)),
  };
}
