import { descriptorTable } from '../../database/collections/collection-tables.ts';
import type { Collection } from '../../database/context.ts';
import { columnsOf, decodeHalfvec, docsOf, textArray } from '../../database/engine/binary.ts';
import { BULK, type Queryable } from '../../database/engine/engine.ts';
import { decisionsOf, mayNotFollow, separateDecided } from './decisions.ts';
import type { RepresentativesInMemory } from './representatives-in-memory.ts';
import type { Grouping, GroupRule } from './rule.ts';
import { type GroupingState, isSame, lockState, writeState } from './state.ts';
import type { UnassignedDocument } from './unassigned.ts';

interface Nearest {
  readonly representative: bigint;
  readonly distance: number;
}

interface Follower extends Nearest {
  readonly doc: bigint;
}

interface ChunkToGroup {
  readonly docs: readonly bigint[];
  readonly state: GroupingState;
  /** The new `doc` of the state: after this chunk, all new documents up to this number have their group. */
  readonly upTo: bigint;
  /** Number of documents that search for a group now, these and others. */
  readonly waiting: number;
  /** Those of the documents that may be in a group. */
  readonly unassigned: readonly UnassignedDocument[];
  readonly inMemory: RepresentativesInMemory;
}

interface GroupedChunk {
  readonly state: GroupingState;
  readonly inMemory: boolean;
}

/**
 * Finds the group of each of some documents, in the order of their numbers: the group of the nearest representative
 * within the rule's distance; otherwise the document becomes a representative itself, alone until others come. (Leader
 * clustering: Hartigan, Clustering Algorithms, 1975.) The result does not depend on how the documents were divided into
 * chunks.
 *
 * One transaction, which succeeds only if the state is still the one that the caller knows.
 *
 * @returns the new state; undefined if another process was faster
 */
export async function groupChunk(
  { store, collection, rule }: Grouping,
  { docs, state, upTo, waiting, inMemory, unassigned }: ChunkToGroup,
): Promise<GroupedChunk | undefined> {
  const S = collection.sqlSchema;
  const near = await inMemory.findRepresentatives(state, unassigned, waiting);
  const grouped = await store.engine.transaction(async (tx) => {
    const from = await lockState(tx, collection);
    if (!isSame(from, state)) return undefined;
    const isNear = near?.version === from.version;
    await tx.query(`delete from ${S}.ungrouped where doc = any($1::bigint[])`, [docs]);
    const there = await selectUnassigned(tx, S, unassigned);
    const ids = there.map(({ id }) => id);
    const decisions = await decisionsOf(tx, S, ids);
    const among = isNear ? near.representatives : undefined;
    const nearest = await nearestRepresentatives(tx, collection, rule, there, decisions.size > 0, among);
    const [representatives, followers] = assignGroups(there, nearest, rule, decisions);
    await save(tx, S, rule, representatives, followers);
    // The new documents may be nearer than a document that they are different from, which then searches for another
    // group.
    const decided = there.filter(({ id }) => decisions.has(id));
    if (decided.length > 0) await separateDecided(tx, S, docsOf(decided));
    const to = await writeState(tx, collection, 'last_doc = $1', [upTo]);
    return { state: to, inMemory: isNear, from, representatives };
  }, BULK);
  if (grouped !== undefined) await inMemory.addRepresentatives(grouped.from, grouped.state, grouped.representatives);
  return grouped;
}

/**
 * The documents that still exist and that no other process has grouped. They stay for this transaction: rows that are
 * removed leave their groups under the same lock.
 */
async function selectUnassigned(
  tx: Queryable,
  S: string,
  unassigned: readonly UnassignedDocument[],
): Promise<UnassignedDocument[]> {
  const rows = await tx.query<{ doc: bigint }>(
    `select d.doc from ${S}.documents d
      where d.doc = any($1::bigint[]) and not exists (select from ${S}.representatives r where r.doc = d.doc)
        and not exists (select from ${S}.followers f join ${S}.representatives r on r.doc = f.representative
                         where f.doc = d.doc and not r.removed)`,
    [docsOf(unassigned)],
  );
  const there = new Set(docsOf(rows));
  return unassigned.filter(({ doc }) => there.has(doc));
}

/**
 * The nearest representative of each document, in its cells if there are cells; of equal ones the lowest number.
 *
 * @param among all representatives that may be near each document, if they are known: then cells are not searched
 */
async function nearestRepresentatives(
  tx: Queryable,
  collection: Collection,
  rule: GroupRule,
  allUnassigned: readonly UnassignedDocument[],
  areDecided: boolean,
  among: ReadonlyMap<bigint, readonly bigint[]> | undefined,
): Promise<ReadonlyMap<bigint, Nearest>> {
  const { sqlSchema: S } = collection;
  const unassigned = among ? allUnassigned.filter(({ doc }) => among.has(doc)) : allUnassigned;
  if (unassigned.length === 0) return new Map();
  // One descriptor and one list for each: with one row per cell, the descriptor would be read 220 times.
  const lists: (readonly (number | bigint)[])[] = unassigned.map(({ doc, cells }) => among?.get(doc) ?? cells);
  const ends: number[] = [];
  for (const list of lists) ends.push((ends.at(-1) ?? 0) + list.length);
  const inList = among ? 'r.doc = any (($4::bigint[])[p.first:p.last])' : 'r.cell = any (($4::int[])[p.first:p.last])';
  const isCandidate = among || rule.cellsOf ? inList : '$4::int[] is not null';
  const second = rule.secondModule && descriptorTable(S, rule.secondModule.module);
  const isNear = second
    ? `(r.vector <-> v.vector <= $7::float8 or coalesce(
         (select a.vector <-> b.vector <= $8::float8 from ${second} a, ${second} b where a.doc = p.doc and b.doc = r.doc), true))`
    : 'true';
  const other = second
    ? `(select halfvec_send(b.vector) from ${second} b where not m.is_near and b.doc = m.representative)`
    : 'null';
  const apart = areDecided ? `and not ${mayNotFollow(S, 'p.id', 'r.vector <-> v.vector')}` : '';
  const rows = await tx.query<{ doc: bigint; is_near: boolean; other: Buffer | null } & Nearest>(
    // The fence forces every plan to use the lists, whatever is known about a growing table.
    `select p.doc, m.representative, m.distance, m.is_near, ${other} as other
       from unnest($1::bigint[], $2::int[], $3::int[], $6::text[]) as p (doc, first, last, id)
       join ${descriptorTable(S, rule.module)} v on v.doc = p.doc
      cross join lateral (
        select * from (
          select n.*, row_number() over (partition by n.is_near order by n.distance, n.representative) as place
            from (select r.doc as representative, r.vector <-> v.vector as distance, ${isNear} as is_near
                    from ${S}.representatives r
                   where ${isCandidate} and not r.removed
                     and r.vector <-> v.vector <= $5::float8 and r.doc <> p.doc ${apart}
                  offset 0) n) ranked
         where place <= case when is_near then 1 else ${rule.secondModule?.isNear ? MAX_COMPARED : 0} end) m
      order by p.doc, m.distance, m.representative`,
    [
      docsOf(unassigned),
      lists.map((list, i) => (ends[i] as number) - list.length + 1),
      ends,
      lists.flat(),
      rule.maxDistance,
      textArray(unassigned.map(({ id }) => id)),
      ...(rule.secondModule ? [rule.secondModule.skipWithin, rule.secondModule.maxDistance] : []),
    ],
  );
  const secondOf = new Map(unassigned.map(({ doc, secondVector }) => [doc, secondVector]));
  const nearest = new Map<bigint, Nearest>();
  for (const { doc, representative, distance, is_near, other } of rows) {
    if (nearest.has(doc)) continue;
    const secondVector = secondOf.get(doc);
    const isNearOtherwise =
      other !== null &&
      secondVector !== undefined &&
      rule.secondModule?.isNear?.(secondVector, decodeHalfvec(other)) === true;
    if (is_near || isNearOtherwise) nearest.set(doc, { representative, distance });
  }
  return nearest;
}

/** Number of representatives of each document that are compared in another way than by the second module. */
const MAX_COMPARED = 32;

/** Processes the documents one after the other: earlier ones may have become representatives. */
function assignGroups(
  unassigned: readonly UnassignedDocument[],
  near: ReadonlyMap<bigint, Nearest>,
  rule: GroupRule,
  decisions: ReadonlyMap<string, ReadonlySet<string>>,
): [representatives: UnassignedDocument[], followers: Follower[]] {
  const representatives: UnassignedDocument[] = [];
  const followers: Follower[] = [];
  const byCell = new Map<number, number[]>();
  for (const document of unassigned) {
    let best = near.get(document.doc);
    const indexes = document.cells.flatMap((cell) => byCell.get(cell) ?? []);
    // In their order: of equally near ones the first counts.
    for (const index of indexes.sort((a, b) => a - b)) {
      const representative = representatives[index] as UnassignedDocument;
      if (decisions.get(document.id)?.has(representative.id)) continue;
      const distance = distanceOf(representative.vector, document.vector);
      if (distance > Math.min(rule.maxDistance, best?.distance ?? Number.POSITIVE_INFINITY)) continue;
      if (distance === best?.distance || !isNearInSecondModule(rule, distance, representative, document)) continue;
      best = { representative: representative.doc, distance };
    }
    if (best !== undefined) {
      followers.push({ doc: document.doc, ...best });
      continue;
    }
    const cell = document.cells[0] as number;
    const others = byCell.get(cell) ?? [];
    byCell.set(cell, others);
    others.push(representatives.length);
    representatives.push(document);
  }
  return [representatives, followers];
}

/** Whether a pair at this distance is also near by the rule's second module, if that is required. */
function isNearInSecondModule(
  { secondModule }: GroupRule,
  distance: number,
  a: UnassignedDocument,
  b: UnassignedDocument,
): boolean {
  if (
    secondModule === undefined ||
    distance <= secondModule.skipWithin ||
    a.secondVector === undefined ||
    b.secondVector === undefined
  )
    return true;
  return (
    distanceOf(a.secondVector, b.secondVector) <= secondModule.maxDistance ||
    secondModule.isNear?.(a.secondVector, b.secondVector) === true
  );
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
  S: string,
  rule: GroupRule,
  representatives: readonly UnassignedDocument[],
  followers: readonly Follower[],
): Promise<void> {
  if (representatives.length > 0) {
    // If a representative has left its group, a follower of it may become a representative.
    await tx.query(`delete from ${S}.followers where doc = any($1::bigint[])`, [docsOf(representatives)]);
    await tx.query(
      `insert into ${S}.representatives (doc, id, cell, vector)
       select t.doc, t.id, t.cell, v.vector from unnest($1::bigint[], $2::text[], $3::int[]) as t (doc, id, cell)
         join ${descriptorTable(S, rule.module)} v on v.doc = t.doc on conflict (doc) do nothing`,
      [
        docsOf(representatives),
        textArray(representatives.map(({ id }) => id)),
        representatives.map(({ cells }) => cells[0] as number),
      ],
    );
  }
  if (followers.length === 0) return;
  await tx.query(
    `insert into ${S}.followers (doc, representative, distance)
     select * from unnest($1::bigint[], $2::bigint[], $3::float8[])
     on conflict (doc) do update set representative = excluded.representative, distance = excluded.distance`,
    columnsOf(followers, 'doc', 'representative', 'distance'),
  );
  await tx.query(
    `update ${S}.representatives r set follower_count = r.follower_count + c.count
       from (select doc, count(*)::int as count from unnest($1::bigint[]) as t (doc) group by doc) c
      where r.doc = c.doc`,
    [followers.map(({ representative }) => representative)],
  );
}
