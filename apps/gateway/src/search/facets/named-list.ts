import type { Endpoints, ParametersOf } from '@akin/contract';
import { Double, type FieldValue, formatDate, stringifyJson } from '@akin/domain';
import type { ValueCount } from '@akin/store/search';

/** How to write lists of names and numbers in JSON: Solr's `json.nl`. */
export type NamedListStyle = ParametersOf<Endpoints['terms']>['json.nl'];

export function named({ value, count }: ValueCount): [string, number] {
  return [nameOf(value), count];
}

/** Values are names here, and so they are texts, as in Solr, even of numbers. */
export function nameOf(value: FieldValue): string {
  if (value instanceof Date) return formatDate(value);
  return typeof value === 'number' ? stringifyJson(new Double(value)) : String(value);
}

export function namedList(entries: readonly (readonly [string | null, number])[], style: NamedListStyle): unknown {
  switch (style) {
    case 'map':
      return new Map(entries.map(([name, count]) => [name ?? '', count]));
    case 'arrarr':
      return entries;
    case 'arrmap':
      return entries.map(([name, count]) => (name === null ? count : new Map([[name, count]])));
    case 'arrntv':
      return entries.map(([name, value]) => ({ name, type: 'int', value }));
    case 'flat':
      return entries.flat();
  }
}
