import { type Endpoints, MAX_ROWS, type ParametersOf } from '@akin/contract';
import {
  type AkinError,
  badRequest,
  type ParameterLookup,
  type Query,
  readLocalValue,
  withErrorContext,
} from '@akin/domain';
import { type FieldCollapse, type MemberRequest, parseSort, type SortClause } from '@akin/store/search';
import type { ParameterList } from '../parameters/parameters.ts';
import { OFF } from '../solr/refused-parameters.ts';
import { namesIn, readSort } from './query-parameters.ts';

/** How documents with the same value of a field appear in a response. */
type GroupForm =
  /** The best of them. */
  | 'collapsed'
  /** The best of them, and the others in a section of the response. */
  | 'expanded'
  /** Groups with their documents. */
  | 'grouped'
  /** The documents of the groups as one list: instead of the groups, or as the response. */
  | 'simple'
  | 'main';

/** One document, or a group, for each value of a field. */
export interface Grouping {
  readonly form: GroupForm;
  readonly collapseBy: FieldCollapse;
  readonly members: MemberRequest | undefined;
  readonly ngroups: boolean;
}

type Parameters = ParametersOf<Endpoints['select']>;

/** A filter `{!collapse …}`. */
interface CollapseFilter {
  readonly text: string;
  readonly local: ReadonlyMap<string, string>;
  /** Stands for it among the queries that facets exclude by its tags. */
  readonly query: Query;
  readonly tags: readonly string[];
}

/** Maximum number of documents of all groups on a page. */
const MAX_MEMBERS = 10_000;

/** Separates `{!collapse …}` from the other filters. */
export function splitFilters(
  texts: readonly string[],
  parameter: ParameterLookup,
): { readonly filters: readonly string[]; readonly collapses: readonly CollapseFilter[] } {
  const filters: string[] = [];
  const collapses: CollapseFilter[] = [];
  for (const text of texts) {
    const { type, local, value } = /^\{!/.test(text)
      ? withErrorContext('fq', () => readLocalValue(text, parameter))
      : { type: undefined, local: new Map<string, string>(), value: text };
    if (type !== 'collapse') filters.push(text);
    else if (value.trim() !== '') {
      throw badRequest(`Parameter fq: expected nothing after {!collapse …}, found ${quoted(value)}.`);
    } else collapses.push({ text, local, query: { kind: 'all' }, tags: namesIn(local.get('tag')) });
  }
  return { filters, collapses };
}

/**
 * Reads `{!collapse field=…}`, `expand` and `group`.
 *
 * @param sort the order of the search
 * @throws AkinError bad-request that names the parameter, also for what cannot be combined
 */
export function readGrouping(
  list: ParameterList,
  collapses: readonly CollapseFilter[],
  parameters: Parameters,
  sort: readonly SortClause[],
  parameter: ParameterLookup,
): Grouping | undefined {
  const [collapse, ...more] = collapses;
  if (more.length > 0) throw badRequest('Parameter fq: only one {!collapse} is possible.');
  if (parameters.expand) refuseGiven(list, ['expand.q', 'expand.fq', 'expand.field', 'expand.nullGroup']);
  if (parameters.group) refuseGiven(list, ['group.query', 'group.func', 'group.facet']);
  const what = parameters.group ? 'group' : collapse ? '{!collapse}' : undefined;
  if (what !== undefined && parameters.collapse !== undefined) throw notTogether('collapse=duplicates', what);
  if (parameters.group) {
    if (collapse !== undefined) throw notTogether('{!collapse}', 'group');
    if (parameters.expand) throw notTogether('expand', 'group');
    if (parameters.cursorMark !== undefined) throw notTogether('cursorMark', 'group');
    return readGroup(parameters, sort, parameter);
  }
  if (collapse === undefined) {
    if (!parameters.expand) return undefined;
    throw badRequest('expand=true needs a filter {!collapse field=…}, whose groups it expands.');
  }
  const collapseBy = withErrorContext('fq', () => readCollapse(collapse, parameter));
  if (!parameters.expand) return { form: 'collapsed', collapseBy, members: undefined, ngroups: false };
  const limit = parameters['expand.rows'];
  requireFew(parameters.rows, limit, 'expand.rows');
  const order = parameters['expand.sort'];
  const members = {
    limit,
    offset: 0,
    withoutHeads: true,
    sort: order === undefined ? [] : withErrorContext('expand.sort', () => parseSort(order, parameter)),
  };
  return { form: 'expanded', collapseBy, members, ngroups: false };
}

function readGroup(parameters: Parameters, sort: readonly SortClause[], parameter: ParameterLookup): Grouping {
  const [field, ...others] = parameters['group.field'].filter((name) => name.trim() !== '');
  if (field === undefined) throw badRequest('group=true needs group.field: group.field=product.');
  if (others.length > 0) throw badRequest('Parameter group.field: only one field is possible.');
  const limit = parameters['group.limit'];
  const own = parameters['group.sort'];
  const form = parameters['group.main'] ? 'main' : parameters['group.format'];
  requireFew(pageOf({ form }, parameters).rows, limit, 'group.limit');
  return {
    form,
    ngroups: parameters['group.ngroups'],
    collapseBy: {
      field: field.trim(),
      missing: 'together',
      order: sort.length === 0 ? [{ name: 'score', direction: 'desc' }] : sort,
      // As in Solr, facets count all matches, unless each group is to count once.
      ...(parameters['group.truncate'] ? { query: { kind: 'all' } } : {}),
      parameter: 'group.field',
    },
    members: {
      limit,
      offset: parameters['group.offset'],
      withoutHeads: false,
      sort: own === undefined ? sort : withErrorContext('group.sort', () => readSort(own, parameter)),
    },
  };
}

const NULL_POLICIES = { ignore: 'leave-out', expand: 'each', collapse: 'together' } as const;

function readCollapse({ local, query }: CollapseFilter, parameter: ParameterLookup): FieldCollapse {
  const field = local.get('field')?.trim() ?? '';
  if (field === '') throw badRequest('expected a field in {!collapse field=…}');
  const policy = local.get('nullPolicy') ?? 'ignore';
  if (!Object.hasOwn(NULL_POLICIES, policy)) {
    throw badRequest(`nullPolicy must be ignore, expand or collapse; it is ${quoted(policy)}`);
  }
  return {
    field,
    query,
    missing: NULL_POLICIES[policy as keyof typeof NULL_POLICIES],
    order: collapseOrder(local, parameter),
    parameter: 'fq',
  };
}

/** The order of `min`, `max` or `sort`. Undefined if none of them is given. */
function collapseOrder(local: ReadonlyMap<string, string>, parameter: ParameterLookup): SortClause[] | undefined {
  const given = ['min', 'max', 'sort'].filter((name) => local.has(name));
  if (given.length > 1) throw badRequest(`only one of ${given.join(', ')} can select the document`);
  const [name] = given;
  const value = name === undefined ? '' : (local.get(name) ?? '').trim();
  if (name === undefined) return undefined;
  if (value === '') throw badRequest(`${name} of {!collapse} needs a value`);
  if (name === 'sort') return parseSort(value, parameter);
  if (value.includes('(')) {
    throw badRequest(`${name} of {!collapse} takes a field; for anything else use sort='… asc'`);
  }
  return parseSort(`${value} ${name === 'min' ? 'asc' : 'desc'}`, parameter);
}

function requireFew(rows: number, limit: number, name: string): void {
  if (rows * limit <= MAX_MEMBERS) return;
  throw badRequest(`Parameters rows and ${name} ask for ${rows * limit} documents, more than ${MAX_MEMBERS}.`);
}

function refuseGiven(list: ParameterList, names: readonly string[]): void {
  const given = list.find(([name, value]) => names.includes(name) && !OFF.test(value));
  if (given === undefined) return;
  throw badRequest(`Parameter ${given[0]} is not supported, and would change the response. Remove it.`);
}

function notTogether(one: string, other: string): AkinError {
  return badRequest(`${one} is not possible with ${other}: remove one of them.`);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}

/** The page of a search: forms that list documents skip documents, not groups. */
export function pageOf(grouping: Pick<Grouping, 'form'> | undefined, { start, rows }: { start: number; rows: number }) {
  if (grouping?.form !== 'simple' && grouping?.form !== 'main') return { start, rows };
  if (start + rows <= MAX_ROWS) return { start: 0, rows: start + rows };
  throw badRequest(
    `Parameters start and rows reach beyond ${MAX_ROWS}, the limit with group.format=simple and group.main.`,
  );
}
