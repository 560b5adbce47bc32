import type { Collection, Plain, SearchResponse } from '@akin/client';
import { escapeName, FILE_FIELD } from './names.ts';

type RangeType = 'long' | 'double' | 'date';

export interface NamedRange {
  readonly name: string;
  readonly type: RangeType;
}

/** A field of numbers or dates with its minimum and maximum in the collection; dates as milliseconds of UTC. */
export interface RangeField extends NamedRange {
  readonly min: number;
  readonly max: number;
}

/** Chosen bounds, both inclusive; null: no bound. */
export interface Range {
  readonly from: number | null;
  readonly to: number | null;
}

/** The positions of a slider: `start + i * step` for i from 0 to `steps`. */
export interface Scale {
  readonly start: number;
  readonly step: number;
  readonly steps: number;
}

/** Each field costs two requests when a collection is opened, and a count in each search. */
const MAX_RANGES = 8;
/** Fields whose bounds are requested, at most: many of a collection's fields may have only one value. */
const MAX_CANDIDATES = 32;
/** Names of fields that people look for first, and last. */
const FIRST_NAME = /^taken$/i;
const EARLY_NAME = /price|cost|preis|prix|precio|date|year|(^|_)(created|published|released)|_(at|on)$/i;
const LATE_NAME = /^(width|height|bytes|size|filesize|modified)$/i;
const BARS = 20;
/** Approximate number of positions of a slider. */
const APPROXIMATE_STEPS = 100;
const DAY = 86_400_000;
/** For longer periods the step of dates is a day. */
const DAYS_FROM = 30 * DAY;

/** The fields of a collection that may get a slider: numbers and dates of its documents, the most useful ones first. */
export function rangeFieldsOf(
  fields: readonly { name: string; type: string; multiValued: boolean; origin: string }[],
): NamedRange[] {
  return fields
    .filter(({ name }) => !FILE_FIELD.test(name))
    .filter(({ type, origin }) => origin === 'document' && (type === 'long' || type === 'double' || type === 'date'))
    .map(({ name, type }) => ({ name, type: type as RangeType }))
    .sort((a, b) => usefulness(a) - usefulness(b))
    .slice(0, MAX_CANDIDATES);
}

function usefulness({ name, type }: NamedRange): number {
  if (FIRST_NAME.test(name)) return 0;
  if (LATE_NAME.test(name)) return 3;
  return type === 'date' || EARLY_NAME.test(name) ? 1 : 2;
}

/** Requests the minimum and maximum of fields, until there are enough. Fields with fewer than two values are omitted. */
export async function loadRanges(
  collection: Collection,
  fields: readonly NamedRange[],
  signal: AbortSignal,
): Promise<RangeField[]> {
  const outermost = async ({ name, type }: NamedRange, order: 'asc' | 'desc') => {
    const field = escapeName(name);
    const parameters = { fq: `${field}:*`, sort: `${field} ${order}`, fl: field, rows: 1 };
    const [document] = (await collection.select(parameters, { signal })).response.docs;
    return numberOf(document?.[name], type);
  };
  const found: RangeField[] = [];
  for (let i = 0; i < fields.length && found.length < MAX_RANGES; i += MAX_RANGES) {
    const all = await Promise.all(
      fields.slice(i, i + MAX_RANGES).map(async (field) => {
        const [min, max] = await Promise.all([outermost(field, 'asc'), outermost(field, 'desc')]);
        return { ...field, min, max };
      }),
    );
    found.push(...all.filter(({ min, max }) => Math.max(-min, max) <= Number.MAX_SAFE_INTEGER && min < max));
  }
  return found.slice(0, MAX_RANGES);
}

function numberOf(value: Plain | undefined, type: RangeType): number {
  if (value === undefined || value === null) return Number.NaN;
  return type === 'date' ? Date.parse(String(value)) : Number(value);
}

/** A scale of round numbers from below the minimum to above the maximum. */
export function scaleOf({ type, min, max }: RangeField): Scale {
  const step = stepOf(type, (max - min) / APPROXIMATE_STEPS, max - min);
  const start = Math.floor(min / step) * step;
  return { start, step, steps: Math.max(1, Math.ceil((max - start) / step)) };
}

/** 1, 2 or 5 times a power of ten; an integer for integers; a day or a second for dates. */
function stepOf(type: RangeType, least: number, span: number): number {
  if (type === 'date') return span >= DAYS_FROM ? DAY : Math.max(1_000, Math.ceil(least / 1_000) * 1_000);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least) ?? least;
  return type === 'long' ? Math.max(1, Math.round(step)) : step;
}

/** The value at a number of steps of a slider, without errors of binary fractions. */
export function valueAt({ start, step }: Scale, steps: number): number {
  const digits = Math.min(20, Math.max(0, -Math.floor(Math.log10(step))));
  return Number((start + steps * step).toFixed(digits));
}

function stepsOfBar(scale: Scale): number {
  return Math.ceil((scale.steps + 1) / BARS);
}

/** Prefix of the key of a range's facet, and of the tag of its filter. */
export const TAG = 'r';

/** The facet for a field's histogram; it ignores the filter of the same field. */
export function rangeFacet(field: RangeField, i: number, isChosen: boolean): string {
  const scale = scaleOf(field);
  const width = stepsOfBar(scale);
  const text = (step: number) => textOf(field.type, valueAt(scale, step));
  const gap =
    field.type === 'date' ? `+${(scale.step * width) / 1_000}SECONDS` : String(valueAt({ ...scale, start: 0 }, width));
  const settings = { start: text(0), end: text(width * Math.ceil((scale.steps + 1) / width)), gap };
  const local = Object.entries(settings).map(([name, value]) => `facet.range.${name}='${value}'`);
  const except = isChosen ? ` ex=${TAG}${i}` : '';
  return `{!key=${TAG}${i}${except} facet.mincount=0 ${local.join(' ')}}${field.name.replaceAll('\\', '\\\\')}`;
}

/** Tags a filter, so that the facet of the same field can ignore it. */
export function tagRange(filter: string, i: number): string {
  return `{!tag=${TAG}${i}}${filter}`;
}

/** For each bar of a slider, by the name of its field. */
export function histogramsOf(body: SearchResponse, ranges: readonly RangeField[]): Map<string, readonly number[]> {
  return new Map(
    ranges.map(({ name }, i) => {
      const flat = body.facet_counts?.facet_ranges[`${TAG}${i}`]?.counts ?? [];
      return [name, flat.filter((_, at) => at % 2 === 1).map(Number)];
    }),
  );
}

export function rangeFilter({ name, type }: NamedRange, { from, to }: Range): string | undefined {
  if (from === null && to === null) return undefined;
  const text = (value: number | null) => (value === null ? '*' : textOf(type, value));
  return `${escapeName(name)}:[${text(from)} TO ${text(to)}]`;
}

export function readBounds(filter: string): { name: string; from: string; to: string } | undefined {
  const [, name, from, to] = /^((?:[^\\:]|\\.)+):\[(\S+) TO (\S+)\]$/s.exec(filter) ?? [];
  if (name === undefined || from === undefined || to === undefined) return undefined;
  return { name: name.replace(/\\(.)/gs, '$1'), from, to };
}

export function isRangeOf(filter: string, { name }: NamedRange): boolean {
  return readBounds(filter)?.name === name;
}

export function chosenRange(filters: readonly string[], field: NamedRange): Range {
  const bounds = filters.map(readBounds).find((one) => one?.name === field.name);
  const read = (text: string | undefined) => {
    const value = text === undefined || text === '*' ? Number.NaN : numberOf(text, field.type);
    return Number.isNaN(value) ? null : value;
  };
  return { from: read(bounds?.from), to: read(bounds?.to) };
}

/** A day as a bound includes the whole day, at both ends. */
function textOf(type: RangeType, value: number): string {
  if (type !== 'date') return String(value);
  const text = new Date(value).toISOString();
  return value % DAY === 0 ? text.slice(0, 10) : text;
}
