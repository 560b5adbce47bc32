import { looksLikeDate, parseDate, type Query, queriesIn, type Schema, stringDateWarning } from '@akin/domain';

/** Warnings about ranges of dates and date math on fields of Strings. */
export function warnAboutDates(queries: readonly Query[], schema: Schema): string[] {
  const names = new Set(queries.flatMap((query) => [...queriesIn(query)].flatMap(datedField)));
  return [...names].filter((name) => schema.get(name)?.type === 'string').map(stringDateWarning);
}

/** The field of a clause that compares it with a date. */
function datedField(clause: Query): string[] {
  if (clause.kind === 'term') return MATH.test(clause.value) ? [clause.field] : [];
  if (clause.kind !== 'range') return [];
  return [clause.low, clause.high].some((bound) => bound !== null && isDate(bound)) ? [clause.field] : [];
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
