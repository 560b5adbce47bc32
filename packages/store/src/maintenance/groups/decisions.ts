import { AkinError, quote } from '@akin/domain';
import type { Store } from '../../changes/context.ts';
import { LIVE } from '../../database/collections/collection-tables.ts';
import { notifyHousekeeping } from '../../database/collections/collections.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import { goneError, REPLACED, requireNoSwap, type Swap } from '../../database/collections/swap.ts';
import type { Collection } from '../../database/context.ts';
import { docsOf, textArray } from '../../database/engine/binary.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { keyFilterFor } from '../../search/keys/key-filter.ts';
import { Params } from '../../search/params.ts';
import { withSnapshot } from '../../search/snapshot.ts';
import { visible } from '../../search/visible.ts';
import { lockState } from './state.ts';

/** Two documents that people marked as different: they are never in one group. By ascending id. */
export type Decision = readonly [string, string];

/**
 * Keeps each pair of some documents from being in one group, or withdraws that. Of those that are in one group now, the
 * one nearest to the representative stays; the others search for another group at the next update.
 *
 * @param ids 2 to 100 different ones
 * @param decision null withdraws an earlier one
 * @throws AkinError not-found for a document that is not visible
 */
export async function decideGroups(
  store: Store,
  collection: Collection,
  ids: readonly string[],
  decision: 'different' | null,
): Promise<void> {
  const { sqlSchema: S } = collection;
  await store.engine.transaction(
    async (tx) => {
      await lockState(tx, collection);
      await requireCurrent(tx, collection);
      const docs = await visibleDocuments(tx, store, collection, ids);
      // Decisions are stored in both directions, so that one lookup in the first column finds all decisions about a
      // document.
      if (decision === 'different') {
        await tx.query(
          `insert into ${S}.decisions (id, other_id)
           select a, b from unnest($1::text[]) a, unnest($1::text[]) b where a <> b on conflict do nothing`,
          [textArray(ids)],
        );
        await separateDecided(tx, S, docs);
      } else {
        await tx.query(`delete from ${S}.decisions where id = any($1::text[]) and other_id = any($1::text[])`, [
          textArray(ids),
        ]);
        await unassign(tx, S, docs);
      }
      await reopen(tx, collection);
    },
    { lane: 'bulk' },
  );
  store.events.notify(collection.id);
}

/** Decisions on visible documents, in the order of their ids. @param after the last one of the previous page */
export async function listDecisions(
  store: Store,
  collection: Collection,
  { limit, after = ['', ''] }: { readonly limit: number; readonly after?: Decision | undefined },
): Promise<{ readonly decisions: readonly Decision[]; readonly next: Decision | undefined }> {
  return withSnapshot(store, collection, async (snapshot) => {
    const { tx, sqlSchema: S } = snapshot;
    const params = new Params();
    const [id, other] = [params.add(after[0], 'text'), params.add(after[1], 'text')];
    const isVisible = (id: string) =>
      `exists (select from ${S}.documents d where d.id = ${id} and ${visible(snapshot, params)})`;
    const rows = await tx.query<{ id: string; other_id: string }>(
      `select x.id, x.other_id from ${S}.decisions x
        where x.id < x.other_id and (x.id, x.other_id) > (${id}, ${other})
          and ${isVisible('x.id')} and ${isVisible('x.other_id')}
        order by x.id, x.other_id limit ${params.add(limit + 1, 'int8')}`,
      params.values,
    );
    const decisions = rows.slice(0, limit).map(({ id, other_id }): Decision => [id, other_id]);
    return { decisions, next: rows.length > limit ? decisions.at(-1) : undefined };
  });
}

/** The ids of the documents that each document was marked as different from, by its id. */
export async function decisionsOf(
  tx: Queryable,
  S: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await tx.query<{ id: string; others: string[] }>(
    `select id, array_agg(other_id) as others from ${S}.decisions where id = any($1::text[]) group by id`,
    [textArray(ids)],
  );
  return new Map(rows.map(({ id, others }) => [id, new Set(others)]));
}

/**
 * SQL: whether a document may not follow the representative `r`, because it was marked as different from the
 * representative, or from a follower that is at least as near.
 *
 * @param id the id of the document, as SQL
 * @param distance between the document and `r`, as SQL
 */
export function mayNotFollow(S: string, id: string, distance: string): string {
  return `exists (select from ${S}.decisions x where x.id = ${id} and (x.other_id = r.id or exists (
            select from ${S}.followers o join ${S}.documents e on e.doc = o.doc
             where o.representative = r.doc and e.id = x.other_id and o.distance <= ${distance})))`;
}

/**
 * If two documents of one group were marked as different, removes the one that is farther from the representative.
 */
export async function separateDecided(tx: Queryable, S: string, docs: readonly bigint[]): Promise<void> {
  const rows = await tx.query<{ doc: bigint }>(
    `with members as (
       select f.doc, f.representative, f.distance, d.id from ${S}.followers f join ${S}.documents d on d.doc = f.doc),
     pairs as (
       select m.doc as doc, m.distance, o.doc as other, o.distance as other_distance
         from members m join ${S}.decisions x on x.id = m.id
         join members o on o.representative = m.representative and o.id = x.other_id
        where m.doc = any($1::bigint[])
       union all
       select m.doc, m.distance, r.doc, -1 from members m join ${S}.representatives r on r.doc = m.representative
         join ${S}.decisions x on x.id = m.id and x.other_id = r.id
        where m.doc = any($1::bigint[]) or r.doc = any($1::bigint[]))
     select distinct case when (distance, doc) > (other_distance, other) then doc else other end as doc from pairs`,
    [docs],
  );
  await removeFollowers(tx, S, docsOf(rows));
}

/** Removes the decisions about removed documents, unless a newer version of the document is live. */
export async function forgetDecisions(tx: Queryable, S: string, docs: readonly bigint[]): Promise<void> {
  await tx.query(
    `with gone as (
       delete from ${S}.decisions where id in (
         select d.id from ${S}.documents d where d.doc = any($1::bigint[])
           and not exists (select from ${S}.documents l where l.id = d.id and l.valid_to = ${LIVE}))
       returning id, other_id)
     delete from ${S}.decisions x using gone g where x.id = g.other_id and x.other_id = g.id`,
    [docs],
  );
}

export async function copyDecisions(tx: Queryable, from: Collection, to: Collection): Promise<void> {
  const [S, T] = [from.sqlSchema, to.sqlSchema];
  // Nobody may group documents between the copy and the separation.
  await lockState(tx, to);
  const copied = await tx.query(
    `insert into ${T}.decisions select * from ${S}.decisions on conflict do nothing returning 1`,
  );
  if (copied.length === 0) return;
  const docs = await tx.query<{ doc: bigint }>(
    `select doc from ${T}.documents where id in (select id from ${T}.decisions) and valid_to = ${LIVE}`,
  );
  await separateDecided(tx, T, docsOf(docs));
  await reopen(tx, to);
}

/** @throws AkinError unavailable if a reindex has replaced the collection, and copied the decisions before */
async function requireCurrent(tx: Queryable, { id }: Collection): Promise<void> {
  const [row] = await tx.query<Pick<Swap, 'replaced'>>(
    `select ${REPLACED} from akin.collections where id = $1 for update`,
    [id],
  );
  if (row !== undefined) requireNoSwap(row);
}

async function visibleDocuments(
  tx: Queryable,
  store: Store,
  collection: Collection,
  ids: readonly string[],
): Promise<bigint[]> {
  const { id, sqlSchema } = collection;
  const [shown] = await tx.query<{ commit: bigint; schema_version: number }>(
    'select commit, schema_version from akin.collections where id = $1',
    [id],
  );
  if (shown === undefined) throw goneError(collection);
  const schema = await loadSchema(store, collection, shown.schema_version, tx);
  const params = new Params();
  const tables = { sqlSchema, schema, modules: store.modules };
  const isVisible = visible({ ...tables, commit: shown.commit, key: keyFilterFor(store, schema.fields) }, params);
  const rows = await tx.query<{ doc: bigint; id: string }>(
    `select d.doc, d.id from ${sqlSchema}.documents d
      where d.id = any(${params.add(textArray(ids), 'text[]')}) and ${isVisible}`,
    params.values,
  );
  const there = new Set(rows.map(({ id }) => id));
  const missing = ids.find((id) => !there.has(id));
  if (missing === undefined) return docsOf(rows);
  throw new AkinError('not-found', `Parameter ids: no document ${quote(missing)} is visible.`);
}

/** Followers leave their groups, and wait for another one. */
async function removeFollowers(tx: Queryable, S: string, docs: readonly bigint[]): Promise<void> {
  if (docs.length === 0) return;
  await tx.query(
    `with gone as (delete from ${S}.followers where doc = any($1::bigint[]) returning doc, representative),
          counts as (select representative, count(*)::int as count from gone group by representative),
          waiting as (insert into ${S}.ungrouped select doc from gone on conflict do nothing)
     update ${S}.representatives r set follower_count = r.follower_count - c.count
       from counts c where r.doc = c.representative`,
    [docs],
  );
}

/** Makes documents, and the followers of those that are representatives, search for a group as if they were new. */
async function unassign(tx: Queryable, S: string, docs: readonly bigint[]): Promise<void> {
  await removeFollowers(tx, S, docs);
  await tx.query(
    `with alone as (delete from ${S}.representatives where doc = any($1::bigint[]) and not removed returning doc),
          left_over as (delete from ${S}.followers where representative in (select doc from alone) returning doc)
     insert into ${S}.ungrouped select doc from alone union select doc from left_over on conflict do nothing`,
    [docs],
  );
}

/** The groups count as older than the last commit again, so that the process that updates them runs. */
async function reopen(tx: Queryable, collection: Collection): Promise<void> {
  await tx.query(
    `update ${collection.sqlSchema}.grouping_state
        set as_of_commit = greatest(0, least(as_of_commit, (select commit - 1 from akin.collections where id = $1)))`,
    [collection.id],
  );
  await notifyHousekeeping(tx, collection);
}
