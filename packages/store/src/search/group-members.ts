import type { FieldValue } from '@akin/domain';
import { longArray } from '../database/engine/binary.ts';
import type { Row } from '../database/engine/engine.ts';
import { groupColumn } from './collapse-by-field.ts';
import type { FieldCollapse, FoundGroup, MemberRequest } from './collapse-request.ts';
import { documentColumns, selectFields } from './hydrate.ts';
import { matchSource } from './matching.ts';
import type { Params } from './params.ts';
import { isValued, type SearchRequest, sortOf } from './request.ts';
import { scoreKeys, valueColumn } from './score-keys.ts';
import type { Snapshot } from './snapshot.ts';
import { keyColumns, orderBy, sortKeys } from './sort.ts';

type MemberRow = Row & {
  readonly id: string;
  readonly value: number | null;
  /** Its group, its position there, the size of the group, and the best value in it. */
  readonly g: string | null;
  readonly r: bigint;
  readonly n: bigint;
  readonly best: number | null;
};

/** The groups of the documents on a page, with their members, by document. */
export async function readMembers(
  { limit, offset, sort, withoutHeads }: MemberRequest,
  { collapseBy, ...request }: SearchRequest & { readonly collapseBy: FieldCollapse },
  snapshot: Snapshot,
  heads: readonly bigint[],
): Promise<Map<bigint, FoundGroup>> {
  if (heads.length === 0) return new Map();
  const { sqlSchema } = snapshot;
  const { sql: group } = groupColumn(collapseBy, snapshot);
  const values = await snapshot.tx.query<{ doc: bigint; value: FieldValue | null; key: string | null }>(
    `select d.doc, d.${group} as value, d.${group}::text as key from ${sqlSchema}.documents d where d.doc = any($1::int8[])`,
    [longArray(heads)],
  );
  const ofMembers = { ...request, sort };
  const own = {
    ...snapshot,
    shown: (into: Params) => {
      const docs = into.add(longArray(heads), 'int8[]');
      const others = withoutHeads ? ` and d.doc <> all(${docs})` : '';
      const ofNone = collapseBy.missing === 'together' && values.some(({ key }) => key === null);
      const inGroups = `d.${group} in (select h.${group} from ${sqlSchema}.documents h where h.doc = any(${docs}))`;
      return `(${inGroups}${ofNone ? ` or d.${group} is null` : ''})${others}`;
    },
  };
  snapshot.uses?.add(`${group} filter`);
  const valued = isValued(ofMembers);
  const { params, from, value, inRange } = matchSource(ofMembers, own, valued);
  const keys = sortKeys(sortOf(ofMembers), () => scoreKeys(value, request.rank, params), own, params);
  const fields = selectFields(snapshot, request.fields ?? ['*']);
  const shown = documentColumns(snapshot.store, snapshot, fields, request.distances ?? [], params);
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
