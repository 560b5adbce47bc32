import { unescapeBackslashes } from '@akin/domain';
import { type FacetKind, readField } from './facet-kind.ts';
import { named, namedList } from './named-list.ts';

/** The values of a field, with the number of matches that have each. */
export const FIELD_FACET: FacetKind<'field'> = {
  parameter: 'facet.field',
  section: 'facet_fields',

  read(text, asked) {
    const { field, local, key, excludedQueries, setting } = readField(this.parameter, text, asked);
    const limit = setting('facet.limit');
    const terms = local.get('terms');
    const except = setting('facet.excludeTerms');
    const sort = setting('facet.sort');
    return {
      key,
      request: {
        kind: 'field',
        field,
        limit: limit < 0 ? undefined : limit,
        offset: setting('facet.offset'),
        mincount: setting('facet.mincount'),
        sort: sort === undefined ? (terms === undefined ? (limit > 0 ? 'count' : 'index') : 'listed') : SORTS[sort],
        prefix: setting('facet.prefix'),
        contains: setting('facet.contains'),
        ignoreCase: setting('facet.contains.ignoreCase'),
        only: terms === undefined ? undefined : splitEscaped(terms),
        except: except === undefined ? undefined : splitEscaped(except),
        missing: setting('facet.missing'),
        excludedQueries,
      },
    };
  },

  present({ counts, missing }, style) {
    const without: [null, number][] = missing === undefined ? [] : [[null, missing]];
    return namedList([...counts.map(named), ...without], style);
  },

  warning(key, { withoutZeros }) {
    if (withoutZeros === undefined) return undefined;
    return `facet.mincount is 1 for ${JSON.stringify(key)}: values of numbers and dates are listed only if they occur`;
  },
};

/** Old clients send true for count and false for index. */
const SORTS = { count: 'count', true: 'count', index: 'index', false: 'index' } as const;

/** Values separated by commas; a backslash escapes the next character. */
function splitEscaped(text: string): string[] {
  return (text.match(/(?:\\.|[^,\\])+/gsu) ?? []).map((one) => unescapeBackslashes(one));
}
