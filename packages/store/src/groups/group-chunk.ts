import { descriptorTable } from '../collections/collection-tables.ts';
import { loadSchema } from '../collections/schema.ts';
import type { Collection, Store } from '../context.ts';
import { binaryArray, decodeHalfvec, encodeHalfvec, textArray } from '../engine/binary.ts';
import type { Queryable } from '../engine/engine.ts';
import { compileQuery } from '../search/compile.ts';
import { Params } from '../search/params.ts';
import { decisionsOf, mayNotFollow, separate } from './decisions.ts';
import { type GroupRule, NO_CELL } from './rule.ts';
import { type GroupingState, isSame, lockState } from './state.ts';

/** A document that looks for its group. */
interface Seeker {
  readonly doc: bigint;
  readonly id: string;
  readonly vector: Float32Array;
  readonly cells: readonly number[];
  /** By the rule's second module. */
  readonly also: Float32Array | undefined;
}

interface Nearest {
  readonly representative: bigint;
  readonly distance: number;
}

/**
 * Finds each of some documents its group, in the order of their numbers: the group of the nearest representative within
 * the rule's distance, or else it becomes a representative itself, alone until others come. (Leader clustering:
 * Hartigan, Clustering Algorithms, 1975.) The result does not depend on how the documents were cut into chunks.
 *
 * One transaction, which goes through only if the state is still the one that the caller knows.
 *
 * @param docs rising numbers
 * @param next what the state becomes with it
 * @returns the new state; undefined when another process was quicker
 */
export async function groupChunk(
  store: Store,
  collection: Collection,
  rule: GroupRule,
  docs: readonly bigint[],
  state: GroupingState,
  next: GroupingState,
): Promise<GroupingState | undefined> {
  const S = collection.sqlSchema;
  const seekers = await readSeekers(store, collection, rule, docs);
  return store.engine.transaction(
    async (tx) => {
      if (!isSame(await lockState(tx, collection), state)) return undefined;
      await tx.query(`delete from ${S}.ungrouped where doc = any($1::bigint[])`, [docs]);
      const there = await stillSeeking(tx, S, seekers);
      const decisions = await decisionsOf(
        tx,
        S,
        there.map(({ id }) => id),
      );
      const near = await nearestRepresentatives(tx, collection, rule, there, decisions.size > 0);
      await save(tx, store, S, ...settle(there, near, rule, decisions));
      // Those that came may be nearer than what they are different from, which then looks for another group.
      const decided = there.filter(({ id }) => decisions.has(id));
      if (decided.length > 0) {
        await separate(
          tx,
          S,
          decided.map(({ doc }) => doc),
        );
      }
      await tx.query(`update ${S}.grouping set doc = $1`, [next.doc]);
      return next;
    },
    { lane: 'bulk', keyed: true },
  );
}

/** Those that have a descriptor and are no exception. */
async function readSeekers(
  store: Store,
  collection: Collection,
  rule: GroupRule,
  docs: readonly bigint[],
): Promise<Seeker[]> {
  const { sqlSchema } = collection;
  const params = new Params();
  const numbers = params.add(docs, 'int8[]');
  const tables = { sqlSchema, schema: await loadSchema(store, collection), modules: store.modules };
  const except = rule.except && compileQuery(rule.except, { tables, params, now: new Date(), timeZone: 'UTC' }, false);
  const rows = await store.engine.transaction(
    (tx) =>
      tx.query<{ doc: bigint; id: string; vector: Buffer; also: Buffer | null }>(
        `select d.doc, d.id, halfvec_send(v.vector) as vector,
                ${rule.also ? `(select halfvec_send(a.vector) from ${descriptorTable(sqlSchema, rule.also.module)} a where a.doc = d.doc)` : 'null'} as also
           from ${sqlSchema}.documents d join ${descriptorTable(sqlSchema, rule.module)} v on v.doc = d.doc
          where d.doc = any(${numbers})${except ? ` and (${except.where}) is not true` : ''}
          order by d.doc`,
        params.values,
      ),
    { lane: 'bulk', keyed: true },
  );
  return rows.map(({ doc, id, vector, also }) => {
    const decoded = decodeHalfvec(vector);
    return {
      doc,
      id,
      vector: decoded,
      cells: rule.cellsOf?.(decoded) ?? [NO_CELL],
      also: also ? decodeHalfvec(also) : undefined,
    };
  });
}

/**
 * Those that are still there (rows are removed a while after they were replaced, and what leaves is told to groups under
 * the same lock) and that no other process found a group for meanwhile.
 */
async function stillSeeking(tx: Queryable, S: string, seekers: readonly Seeker[]): Promise<Seeker[]> {
  const rows = await tx.query<{ doc: bigint }>(
    `select d.doc from ${S}.documents d
      where d.doc = any($1::bigint[]) and not exists (select from ${S}.representatives r where r.doc = d.doc)
        and not exists (select from ${S}.followers f join ${S}.representatives r on r.doc = f.representative
                         where f.doc = d.doc and not r.gone)`,
    [seekers.map(({ doc }) => doc)],
  );
  const there = new Set(rows.map(({ doc }) => doc));
  return seekers.filter(({ doc }) => there.has(doc));
}

/** Of each document the nearest representative in its cells, if there are cells, of equals the lowest number. */
async function nearestRepresentatives(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  rule: GroupRule,
  seekers: readonly Seeker[],
  areDecided: boolean,
): Promise<ReadonlyMap<bigint, Nearest>> {
  // One descriptor and one list of cells for each: a row for each cell would read the descriptor 150 times.
  const cells = seekers.flatMap((seeker) => seeker.cells);
  const ends: number[] = [];
  for (const seeker of seekers) ends.push((ends.at(-1) ?? 0) + seeker.cells.length);
  const inCells = rule.cellsOf ? 'r.cell = any (($4::int[])[p.first:p.last])' : '$4::int[] is not null';
  const second = rule.also && descriptorTable(S, rule.also.module);
  const also = second
    ? `and (r.vector <-> v.vector <= $6::float8 or coalesce(
             (select a.vector <-> b.vector <= $7::float8 from ${second} a, ${second} b where a.doc = p.doc and b.doc = r.doc), true))`
    : '';
  const apart = areDecided ? `and not ${mayNotFollow(S, 'p.id', 'r.vector <-> v.vector')}` : '';
  const rows = await tx.query<{ doc: bigint } & Nearest>(
    // The fence lets no plan go another way than through the cells, whatever is known of a table that grows.
    `select distinct on (p.doc) p.doc, m.representative, m.distance
       from unnest($1::bigint[], $2::int[], $3::int[]${areDecided ? `, $${rule.also ? 8 : 6}::text[]` : ''}) as p (doc, first, last${areDecided ? ', id' : ''})
       join ${descriptorTable(S, rule.module)} v on v.doc = p.doc
      cross join lateral (
        select r.doc as representative, r.vector <-> v.vector as distance
          from ${S}.representatives r
         where ${inCells} and not r.gone
           and r.vector <-> v.vector <= $5::float8 and r.doc <> p.doc
           ${also} ${apart}
        offset 0) m
      order by p.doc, m.distance, m.representative`,
    [
      seekers.map(({ doc }) => doc),
      seekers.map((seeker, i) => (ends[i] as number) - seeker.cells.length + 1),
      ends,
      cells,
      rule.maxDistance,
      ...(rule.also ? [rule.also.unless, rule.also.maxDistance] : []),
      ...(areDecided ? [textArray(seekers.map(({ id }) => id))] : []),
    ],
  );
  return new Map(rows.map(({ doc, representative, distance }) => [doc, { representative, distance }]));
}

/** Goes through the documents one after the other: those before may have become representatives. */
function settle(
  seekers: readonly Seeker[],
  near: ReadonlyMap<bigint, Nearest>,
  rule: GroupRule,
  decisions: ReadonlyMap<string, ReadonlySet<string>>,
): [representatives: Seeker[], followers: ({ readonly doc: bigint } & Nearest)[]] {
  const representatives: Seeker[] = [];
  const followers: ({ readonly doc: bigint } & Nearest)[] = [];
  for (const seeker of seekers) {
    let best = near.get(seeker.doc);
    for (const representative of representatives) {
      if (!seeker.cells.includes(representative.cells[0] as number)) continue;
      if (decisions.get(seeker.id)?.has(representative.id)) continue;
      const distance = distanceOf(representative.vector, seeker.vector);
      if (distance > Math.min(rule.maxDistance, best?.distance ?? Number.POSITIVE_INFINITY)) continue;
      if (distance === best?.distance || !isAlso(rule, distance, representative, seeker)) continue;
      best = { representative: representative.doc, distance };
    }
    if (best === undefined) representatives.push(seeker);
    else followers.push({ doc: seeker.doc, ...best });
  }
  return [representatives, followers];
}

/** Whether a pair so far apart is near by the rule's second module too, if it must be. */
function isAlso({ also }: GroupRule, distance: number, a: Seeker, b: Seeker): boolean {
  if (also === undefined || distance <= also.unless || a.also === undefined || b.also === undefined) return true;
  return distanceOf(a.also, b.also) <= also.maxDistance;
}

/** In single precision, as the database computes it. */
function distanceOf(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.fround((a[i] as number) - (b[i] as number));
    sum = Math.fround(sum + Math.fround(difference * difference));
  }
  return Math.sqrt(sum);
}

async function save(
  tx: Queryable,
  store: Store,
  S: string,
  representatives: readonly Seeker[],
  followers: readonly ({ readonly doc: bigint } & Nearest)[],
): Promise<void> {
  if (representatives.length > 0) {
    // Followers of a representative that left may become one.
    await tx.query(`delete from ${S}.followers where doc = any($1::bigint[])`, [representatives.map(({ doc }) => doc)]);
    await tx.query(
      `insert into ${S}.representatives (doc, id, cell, vector)
       select * from unnest($1::bigint[], $2::text[], $3::int[], $4::halfvec[]) on conflict (doc) do nothing`,
      [
        representatives.map(({ doc }) => doc),
        textArray(representatives.map(({ id }) => id)),
        representatives.map(({ cells }) => cells[0] as number),
        binaryArray(
          store.halfvecOid,
          representatives.map(({ vector }) => encodeHalfvec(vector)),
        ),
      ],
    );
  }
  if (followers.length === 0) return;
  await tx.query(
    `insert into ${S}.followers (doc, representative, distance)
     select * from unnest($1::bigint[], $2::bigint[], $3::float8[])
     on conflict (doc) do update set representative = excluded.representative, distance = excluded.distance`,
    [
      followers.map(({ doc }) => doc),
      followers.map(({ representative }) => representative),
      followers.map(({ distance }) => distance),
    ],
  );
  await tx.query(
    `update ${S}.representatives r set followers = r.followers + c.count
       from (select doc, count(*)::int as count from unnest($1::bigint[]) as t (doc) group by doc) c
      where r.doc = c.doc`,
    [followers.map(({ representative }) => representative)],
  );
}
