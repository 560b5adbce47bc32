import { AkinError, type FieldValue, isListType, quote, typeName } from '@akin/domain';
import type { Store } from '../context.ts';
import { longArray } from '../engine/binary.ts';
import type { Row } from '../engine/engine.ts';
import type { FieldCollapse, FoundGroup, MemberRequest } from './collapse-request.ts';
import { findColumn, type SearchedTables } from './columns.ts';
import type { Clock } from './date-math.ts';
import { expandWords } from './expand-words.ts';
import { documentColumns, selectFields } from './hydrate.ts';
import { matchSource } from './matching.ts';
import type { Params } from './params.ts';
import { isValued, type SearchRequest } from './request.ts';
import { scoreKeys } from './score-keys.ts';
import type { ShownDocuments, Snapshot } from './snapshot.ts';
import { keyColumn, orderBy, type SortClause, type SortKey, sortKeys } from './sort.ts';

/*
 * A result that shows one document for each value of a field: the head of its group. The nearest heads come from the
 * searcher, see nearest.ts. For everything else, one statement finds the heads of all groups, and the other statements
 * of the search see only these.
 */

const BY_SCORE: SortClause = { name: 'score', direction: 'desc' };

/** The order whose first document is the head of its group. */
function headOrder({ order }: FieldCollapse, { sort = [] }: SearchRequest): readonly SortClause[] {
  return order ?? [BY_SCORE, ...sort.filter(({ name }) => name !== 'score')];
}

export function isNearestHead(collapse: FieldCollapse, request: SearchRequest): boolean {
  const [first] = headOrder(collapse, request);
  return first?.name === 'score' && first.direction === 'desc';
}

/** @throws AkinError bad-request if the field has no single value */
export function groupColumn({ field, parameter }: FieldCollapse, tables: SearchedTables): string {
  const fail = (problem: string) => new AkinError('bad-request', `Parameter ${parameter}: ${problem}.`);
  const { column, type } = findColumn(tables, field, fail);
  if (isListType(type)) {
    throw fail(
      `documents may have several values of ${quote(field)}, a ${typeName(type)}: collapse by a field with one`,
    );
  }
  if (column.kind === 'column') return column.sql;
  throw fail(
    `documents cannot be collapsed by ${quote(field)}, which is a ${typeName(type)}: use a field with one value`,
  );
}

/** Whether facets count the heads alone, so that all heads must be known. */
export function facetsNeedHeads({ collapseBy, facets = [] }: SearchRequest): boolean {
  const query = collapseBy?.query;
  return query !== undefined && facets.some(({ excludedQueries }) => !excludedQueries?.has(query));
}

type MemberRow = Row & {
  readonly id: string;
  readonly value: number | null;
  /** Its group, its position there, the size of the group, and the best value in it. */
  readonly g: string | null;
  readonly r: bigint;
  readonly n: bigint;
  readonly best: number | null;
};

export async function findHeads(
  collapse: FieldCollapse,
  request: SearchRequest,
  snapshot: Snapshot,
  clock: Clock,
): Promise<ShownDocuments> {
  const group = groupColumn(collapse, snapshot);
  await expandWords(request, snapshot, clock);
  const order = headOrder(collapse, request);
  const valued = order.some(({ name }) => name === 'score') || request.rank?.maxDistance !== undefined;
  const { params, from, value, inRange } = matchSource(request, snapshot, clock, valued);
  const keys = sortKeys(order, () => scoreKeys(value, request.rank, params), snapshot, params);
  // Each document without a value is a group by itself, or they are one group, or none.
  const own = collapse.missing === 'each' ? `case when d.${group} is null then d.doc end` : 'null::int8';
  const found = collapse.missing === 'leave-out' ? 'm.g is not null' : 'true';
  const [row] = await snapshot.tx.query<{ docs: string | null }>(
    `select encode(string_agg(int8send(h.doc), ''), 'base64') as docs from (
       select distinct on (m.g, m.own) m.doc
         from (select d.doc, d.${group} as g, ${own} as own, ${valueColumn(value)}${keyColumns(keys)} from ${from}) m
        where ${inRange} and ${found}
        order by m.g, m.own, ${orderBy(keys)}) h`,
    params.values,
  );
  const bytes = Buffer.from(row?.docs ?? '', 'base64');
  const docs = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readBigInt64BE(8 * i));
  const heads = longArray(docs);
  return { where: (into) => `d.doc = any(${into.add(heads, 'int8[]')})`, count: docs.length };
}

/** The groups of the documents on a page, with their members, by document. */
export async function readMembers(
  store: Store,
  { limit, offset, sort, withoutHeads }: MemberRequest,
  request: SearchRequest & { readonly collapseBy: FieldCollapse },
  snapshot: Snapshot,
  clock: Clock,
  heads: readonly bigint[],
): Promise<Map<bigint, FoundGroup>> {
  if (heads.length === 0) return new Map();
  const { sqlSchema } = snapshot;
  const group = groupColumn(request.collapseBy, snapshot);
  const values = await snapshot.tx.query<{ doc: bigint; value: FieldValue | null; key: string | null }>(
    `select d.doc, d.${group} as value, d.${group}::text as key from ${sqlSchema}.documents d where d.doc = any($1::int8[])`,
    [longArray(heads)],
  );
  const ofMembers = { ...request, sort };
  const own = {
    ...snapshot,
    shown: {
      where: (into: Params) => {
        const docs = into.add(longArray(heads), 'int8[]');
        const others = withoutHeads ? ` and d.doc <> all(${docs})` : '';
        const ofNone = request.collapseBy.missing === 'together' && values.some(({ key }) => key === null);
        const inGroups = `d.${group} in (select h.${group} from ${sqlSchema}.documents h where h.doc = any(${docs}))`;
        return `(${inGroups}${ofNone ? ` or d.${group} is null` : ''})${others}`;
      },
    },
  };
  snapshot.uses?.add(group, 'filter');
  const valued = isValued(ofMembers);
  const { params, from, value, inRange } = matchSource(ofMembers, own, clock, valued);
  const keys = sortKeys(
    sort.length === 0 ? [BY_SCORE] : sort,
    () => scoreKeys(value, request.rank, params),
    own,
    params,
  );
  const fields = selectFields(snapshot, request.fields ?? ['*']);
  const shown = documentColumns(store, snapshot, fields, request.distances ?? [], params);
  const [least, most] = [params.add(offset, 'int8'), params.add(offset + limit, 'int8')];
  const partition = 'partition by m.g';
  // The first one of each group says how many there are, whether or not it is shown.
  const rows = await snapshot.tx.query<MemberRow>(
    `select ${['m.doc, m.id, m.g, m.r, m.n, m.value, m.best', ...shown.columns].join(', ')} from (
       select m.*, row_number() over (${partition} order by ${orderBy(keys)}) as r, count(*) over (${partition}) as n,
              ${request.rank === undefined ? 'max' : 'min'}(m.value) over (${partition}) as best
         from (select d.doc, d.id, d.${group}::text as g, ${valueColumn(value)}${keyColumns(keys)} from ${from}) m
        where ${inRange}) m
       join ${sqlSchema}.documents d on d.doc = m.doc
       ${shown.joins}
      where m.r = 1 or (m.r > ${least} and m.r <= ${most}) order by m.g, m.r`,
    params.values,
  );
  const constant = typeof value === 'number' && valued ? value : null;
  const scoreOf = (own: number | null | undefined) => {
    const one = constant ?? own ?? null;
    return one === null ? {} : request.rank === undefined ? { score: one } : { distance: one };
  };
  const groups = new Map<string | null, MemberRow[]>();
  for (const row of rows) {
    const group = groups.get(row.g);
    if (group === undefined) groups.set(row.g, [row]);
    else group.push(row);
  }
  return new Map(
    values.map(({ doc, value: shownValue, key }): [bigint, FoundGroup] => {
      const own = groups.get(key) ?? [];
      const members = own
        .filter(({ r }) => Number(r) > offset && Number(r) <= offset + limit)
        .map((row) => ({ id: row.id, ...scoreOf(row.value), ...shown.read(row) }));
      const [first] = own;
      const best = first === undefined ? {} : scoreOf(first.best);
      return [doc, { value: shownValue ?? undefined, total: Number(first?.n ?? 0), ...best, members }];
    }),
  );
}

function valueColumn(value: string | number): string {
  return `${typeof value === 'string' ? value : 'null::float8'} as value`;
}

function keyColumns(keys: readonly SortKey[]): string {
  return keys.flatMap((key, i) => (key.sql === null ? [] : [`, ${key.sql} as ${keyColumn(key, i)}`])).join('');
}
