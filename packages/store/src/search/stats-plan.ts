import { AkinError, elementType, type FieldType, isListType, parseLong, quote, typeName } from '@akin/domain';
import { findColumn } from './columns.ts';
import { keySql, readKey } from './facet-keys.ts';
import type { FacetPlan } from './facet-plan.ts';
import type { StatsFacet } from './facet-request.ts';
import type { Snapshot } from './snapshot.ts';

/** The sums of greater numbers could be beyond the range of a Double, which is an error in PostgreSQL. */
const MAX_SUMMED = 1e140;

/** @throws AkinError bad-request that names the field */
export function statsPlan({ field }: StatsFacet, snapshot: Snapshot): FacetPlan {
  const fail = (problem: string) => new AkinError('bad-request', `stats.field has no figures: ${problem}.`);
  const { column, type } = findColumn(snapshot, field, fail);
  if (column.kind !== 'column') throw fail(`${quote(field)} is a ${typeName(type)}`);
  const element = elementType(type);
  const values = isListType(type) ? `unnest(d.${column.sql})${element === 'string' ? ' collate "C"' : ''}` : undefined;
  const missing = values === undefined ? `d.${column.sql} is null` : `coalesce(cardinality(d.${column.sql}), 0) = 0`;
  return {
    conditions: () => [{ part: 'missing', condition: missing }],
    select: ({ from, where }) => {
      const source = `select ${values ?? `d.${column.sql}`} as v from ${from} where ${where}`;
      const figures = [...figuresOf(element)].map(([part, sql]) => ({ part, sql }));
      const rows = figures.map(({ part }, i) => `('${part}', t.s${i})`);
      return (
        `select s.part, s.key, t.n, 0::int8 as position ` +
        `from (select count(e.v) as n, ${figures.map(({ sql }, i) => `${sql} as s${i}`).join(', ')} from (${source}) e) t ` +
        `cross join lateral (values ${rows.join(', ')}) s(part, key)`
      );
    },
    needsZeros: () => false,
    result: (rows) => {
      const row = (part: string) => rows.find((one) => one.part === part);
      const value = (part: string) => {
        const key = row(part)?.key ?? null;
        return key === null ? undefined : readKey(key, element);
      };
      const number = (part: string) => {
        const key = row(part)?.key ?? null;
        return key === null ? undefined : Number(key);
      };
      const [count, isNumber] = [Number(row('min')?.n ?? 0), element === 'long' || element === 'double'];
      return {
        kind: 'stats',
        min: value('min'),
        max: value('max'),
        count,
        missing: Number(row('missing')?.n ?? 0),
        ...(isNumber
          ? { sum: count === 0 ? zeroOf(element) : sumOf(row('sum')?.key ?? null, element), mean: number('mean') }
          : {}),
        // One value deviates from nothing.
        ...(isNumber ? { stddev: count < 2 ? 0 : number('stddev') } : {}),
      };
    },
  };
}

/** SQL of each figure over rows `e.v`, as text. */
function* figuresOf(type: FieldType): Generator<readonly [part: string, sql: string]> {
  if (type === 'boolean') {
    yield ['min', 'bool_and(e.v)::text'];
    yield ['max', 'bool_or(e.v)::text'];
    return;
  }
  yield ['min', keySql('min(e.v)', type)];
  yield ['max', keySql('max(e.v)', type)];
  if (type !== 'long' && type !== 'double') return;
  // Over integers these are exact, however many there are.
  const summed = type === 'long' ? 'e.v' : `case when abs(e.v) <= ${MAX_SUMMED} then e.v end`;
  const all = (sql: string) => (type === 'long' ? sql : `case when count(${summed}) = count(e.v) then ${sql} end`);
  yield ['sum', `(${all(`sum(${summed})`)})::text`];
  yield ['mean', `(${all(`avg(${summed})`)})::float8::text`];
  yield ['stddev', `(${all(`stddev_samp(${summed})`)})::float8::text`];
}

const zeroOf = (type: FieldType) => (type === 'long' ? 0n : 0);

/** The sum of integers is a Long, or beyond 64 bits a Double, as in Solr. */
function sumOf(key: string | null, type: FieldType): bigint | number | undefined {
  if (key === null) return undefined;
  return (type === 'long' ? parseLong(key) : null) ?? Number(key);
}
