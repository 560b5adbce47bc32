import { type AkinError, type FieldType, type FieldValue, quote, typeName } from '@akin/domain';
import { addDateMath, type Clock, type Moment, readMoment } from './date-math.ts';
import { MAX_LONG, MIN_LONG, readDouble, readInteger } from './query-values.ts';

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
      throw fail(`ranges need a field with one number or date, and it is a ${typeName(type)}`);
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

/** Number of documents inside each range and on each edge, counted in one pass. */
export interface RangeTally {
  /** Index i: between edge i - 1 and edge i; 0 before the first, the last after the last. */
  readonly betweenEdges: readonly number[];
  /** Index i: equal to edge i. */
  readonly onEdge: readonly number[];
}

export interface RangeCounts {
  /** One for each range. */
  readonly counts: readonly number[];
  readonly before?: number;
  readonly after?: number;
  readonly between?: number;
}

/** Counts with the bounds that belong to each range by `include` (Solr's `facet.range.include`). */
export function countRanges(
  { betweenEdges, onEdge }: RangeTally,
  include: ReadonlySet<RangeInclude>,
  other: ReadonlySet<RangeOther>,
): RangeCounts {
  const has = (...words: RangeInclude[]) => include.has('all') || words.some((word) => include.has(word));
  const wanted = (word: RangeOther) => !other.has('none') && (other.has('all') || other.has(word));
  const ranges = onEdge.length - 1;
  const at = (edge: number) => onEdge[edge] ?? 0;
  const counts = Array.from({ length: ranges }, (_, i) => {
    const low = has('lower') || (has('edge') && i === 0) ? at(i) : 0;
    const high = has('upper') || (has('edge') && i === ranges - 1) ? at(i + 1) : 0;
    return (betweenEdges[i + 1] ?? 0) + low + high;
  });
  const outer = include.has('outer') || include.has('all');
  const [low, high] = [has('lower', 'edge'), has('upper', 'edge')];
  const middle =
    betweenEdges.slice(1, -1).reduce((sum, n) => sum + n, 0) + onEdge.slice(1, -1).reduce((sum, n) => sum + n, 0);
  const edges = ranges === 0 ? (low && high ? at(0) : 0) : (low ? at(0) : 0) + (high ? at(ranges) : 0);
  return {
    counts,
    ...(wanted('before') ? { before: (betweenEdges[0] ?? 0) + (outer || !low ? at(0) : 0) } : {}),
    ...(wanted('after') ? { after: (betweenEdges[ranges + 1] ?? 0) + (outer || !high ? at(ranges) : 0) } : {}),
    ...(wanted('between') ? { between: (ranges === 0 ? 0 : middle) + edges } : {}),
  };
}
