import { looksLikeDate, parseDate, type Query, type Schema, stringDateWarning } from '@akin/domain';

/** Warnings about ranges of dates and date math on fields of Strings. */
export function warnAboutDates(queries: readonly Query[], schema: Schema): string[] {
  const names = new Set(queries.flatMap(datedFields));
  return [...names].filter((name) => schema.get(name)?.type === 'string').map(stringDateWarning);
}

function datedFields(query: Query): string[] {
  switch (query.kind) {
    case 'range':
      return [query.low, query.high].some((bound) => bound !== null && isDate(bound)) ? [query.field] : [];
    case 'term':
      return MATH.test(query.value) ? [query.field] : [];
    case 'bool':
      return [...query.must, ...query.should, ...query.mustNot].flatMap(datedFields);
    case 'boost':
    case 'constant':
    case 'by-distance':
      return datedFields(query.query);
    default:
      return [];
  }
}

const MATH = /^NOW(?:[+-]\d+[A-Z]+|\/[A-Z]+)*$/;

function isDate(text: string): boolean {
  return (
    MATH.test(text) ||
    parseDate(text) !== null ||
    parseDate(text.replace(/[+/-][^:]*$/, '')) !== null ||
    looksLikeDate(text)
  );
}
