import { badRequest } from '@akin/domain';
import { presentValue } from '../present.ts';
import { type FacetKind, readField } from './facet-kind.ts';
import { named, namedList } from './named-list.ts';

/** The matches in each of several ranges of a number or date. */
export const RANGE_FACET: FacetKind<'range'> = {
  parameter: 'facet.range',
  section: 'facet_ranges',

  read(text, asked) {
    const { field, key, excludedQueries, setting } = readField(this.parameter, text, asked);
    const required = (name: 'facet.range.start' | 'facet.range.end' | 'facet.range.gap') => {
      const given = setting(name);
      if (given !== undefined) return given;
      throw badRequest(`Parameter ${name} is required by facet.range=${text.slice(0, 60)}.`);
    };
    const include = setting('facet.range.include');
    return {
      key,
      request: {
        kind: 'range',
        field,
        start: required('facet.range.start'),
        end: required('facet.range.end'),
        gap: required('facet.range.gap'),
        hardEnd: setting('facet.range.hardend'),
        mincount: setting('facet.mincount'),
        include: new Set(include.length === 0 ? ['lower'] : include),
        other: new Set(setting('facet.range.other')),
        excludedQueries,
      },
    };
  },

  present({ kind: _, counts, gap, start, end, ...others }, style) {
    return {
      counts: namedList(counts.map(named), style),
      gap: presentValue(gap),
      ...others,
      start: presentValue(start),
      end: presentValue(end),
    };
  },
};
