import type { SearchResult } from '@akin/store/search';
import { nameOf } from './facets/named-list.ts';
import type { Grouping } from './grouping.ts';
import { presentValue } from './present.ts';

export interface DocumentList {
  readonly numFound: number;
  readonly start: number;
  readonly maxScore?: unknown;
  readonly numFoundExact: boolean;
  readonly docs: readonly unknown[];
}

type Groups = NonNullable<SearchResult['groups']>;
type Member = Groups[number]['members'][number];

interface Writing {
  readonly document: (member: Member) => unknown;
  /** The member `maxScore` of a list, if scores are wanted. */
  readonly maxScore: (best: { readonly score?: number; readonly distance?: number }) => { readonly maxScore?: unknown };
}

/** The members of a response that has groups, as in Solr. @param response the list of a search without groups */
export function presentGroups(
  { form, collapseBy, members, ngroups }: Grouping,
  { groups = [], matches = 0, numFound }: Pick<SearchResult, 'groups' | 'matches' | 'numFound'>,
  response: DocumentList,
  { start, rows }: { readonly start: number; readonly rows: number },
  { document, maxScore }: Writing,
): Record<string, unknown> {
  const listOf = ({ total, members: docs, ...best }: Groups[number], first: number): DocumentList => ({
    numFound: total,
    start: first,
    ...maxScore(best),
    numFoundExact: true,
    docs: docs.map(document),
  });
  if (form === 'collapsed') return { response };
  if (form === 'expanded') {
    const others = groups.filter(({ value, total }) => value !== undefined && total > 0);
    return { response, expanded: new Map(others.map((one) => [nameOf(one.value ?? ''), listOf(one, 0)])) };
  }
  const flat = (): DocumentList => {
    const docs = groups.flatMap(({ members: own }) => own).slice(start, start + rows);
    return { ...response, numFound: matches, start, docs: docs.map(document) };
  };
  if (form === 'main') return { response: flat() };
  const counts = { matches, ...(ngroups ? { ngroups: numFound } : {}) };
  const contents =
    form === 'simple'
      ? { doclist: flat() }
      : {
          groups: groups.map((one) => ({
            groupValue: one.value === undefined ? null : presentValue(one.value),
            doclist: listOf(one, members?.offset ?? 0),
          })),
        };
  return { grouped: new Map([[collapseBy.field, { ...counts, ...contents }]]) };
}
