import type { FoundDocument, SearchResponse } from '@akin/client';
import { TEXTS } from '../texts.ts';
import { unescaped } from './names.ts';
import { type RangeField, TAG } from './ranges.ts';

/** A month or a year of a date field, and its number of results. */
export interface Period {
  /** Milliseconds of UTC. */
  readonly start: number;
  readonly end: number;
  readonly count: number;
}

const KEY = 'periods';
/** Longer spans have a list of years. */
const MAX_MONTHS = 36;
const MONTH = 30.4 * 86_400_000;

const sortOf = (sort: string) => /^(?<name>.+) (?<order>asc|desc)$/s.exec(sort)?.groups;

/** The date field by which results are sorted; undefined if they are sorted by anything else. */
export function dateOrder(
  sort: string,
  ranges: readonly RangeField[],
): { readonly field: RangeField; readonly isNewestFirst: boolean } | undefined {
  const { name = '', order } = sortOf(sort) ?? {};
  const field = ranges.find((one) => one.type === 'date' && one.name === unescaped(name));
  return field && { field, isNewestFirst: order === 'desc' };
}

/**
 * The headings of results in the order of a date: for the first document of each month, its name.
 *
 * @returns by the index of the document; empty if the results are sorted by anything else
 */
export function monthHeadings(documents: readonly FoundDocument[], sort: string): Map<number, string> {
  const name = unescaped(sortOf(sort)?.name ?? '');
  const headings = new Map<number, string>();
  if (!isInstant(documents[0]?.[name])) return headings;
  let before: string | undefined;
  for (const [i, document] of documents.entries()) {
    const value = document[name];
    const month = isInstant(value) ? value.slice(0, 7) : '';
    if (month !== before) headings.set(i, month === '' ? TEXTS.periods.none : monthName(Date.parse(`${month}-01`)));
    before = month;
  }
  return headings;
}

function isInstant(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
}

function isByMonth({ min, max }: RangeField): boolean {
  return (max - min) / MONTH <= MAX_MONTHS;
}

/** The facet that counts the periods of a field. @param i the index of the field among those with sliders */
export function periodFacet(field: RangeField, i: number, isChosen: boolean): string {
  const year = new Date(field.min).getUTCFullYear();
  const month = new Date(field.min).getUTCMonth();
  const start = new Date(Date.UTC(year, isByMonth(field) ? month : 0)).toISOString();
  const end = new Date(field.max + 1_000).toISOString();
  const except = isChosen ? ` ex=${TAG}${i}` : '';
  const gap = isByMonth(field) ? '+1MONTH' : '+1YEAR';
  const local = `facet.range.start='${start}' facet.range.end='${end}' facet.range.gap='${gap}'`;
  return `{!key=${KEY}${except} facet.mincount=1 ${local}}${field.name.replaceAll('\\', '\\\\')}`;
}

export function periodsOf(body: SearchResponse, field: RangeField): Period[] {
  const flat = body.facet_counts?.facet_ranges[KEY]?.counts ?? [];
  return flat.flatMap((text, i): Period[] => {
    const count = Number(flat[i + 1]);
    if (i % 2 === 1 || count === 0) return [];
    const start = new Date(String(text));
    const [year, month] = [start.getUTCFullYear(), start.getUTCMonth()];
    const end = isByMonth(field) ? Date.UTC(year, month + 1) : Date.UTC(year + 1, 0);
    return [{ start: start.getTime(), end, count }];
  });
}

export function periodName({ start }: Period, field: RangeField): string {
  return isByMonth(field) ? SHORT_MONTH.format(start) : String(new Date(start).getUTCFullYear());
}

const LONG_MONTH = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const SHORT_MONTH = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });

function monthName(instant: number): string {
  return LONG_MONTH.format(instant);
}
