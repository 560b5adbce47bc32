import { supersede } from '../../changes/commit/failures.ts';
import { copyTombstones } from '../../changes/commit/tombstones.ts';
import type { Store } from '../../changes/context.ts';
import { descriptorTable } from '../../database/collections/collection-tables.ts';
import { newDocSql } from '../../database/collections/shards.ts';
import type { Collection } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { copyDecisions } from '../groups/decisions.ts';

const HOLD_SECONDS = 20;

/** Blocks changes for a while: clients get an error that tells them to try again. */
export async function holdChanges(store: Store, collection: Collection): Promise<void> {
  await store.engine.query(
    `update akin.collections set held_until = clock_timestamp() + interval '${HOLD_SECONDS} seconds' where id = $1`,
    [collection.id],
  );
}

/**
 * Gives a collection's name, its sequence numbers and its pending changes to another collection, in one transaction.
 *
 * @param commit the last commit whose documents the other collection has
 * @param accepts whether the models of the other collection accept the outputs of a pending change
 * @param guard rejects if this process may no longer do it
 * @returns false if there are newer changes: copy those first
 */
export async function swapCollections(
  store: Store,
  old: Collection,
  target: Collection,
  commit: bigint,
  accepts: (analysis: string) => boolean,
  guard: (tx: Queryable) => Promise<void>,
): Promise<boolean> {
  const [S, T] = [old.sqlSchema, target.sqlSchema];
  return store.engine.transaction(
    async (tx) => {
      // Locks are taken in the same order as by a commit: first the operations, then the row of the collection.
      await tx.query(`lock table ${S}.operations in share row exclusive mode`);
      const rows = await tx.query<{ id: number; ready: boolean }>(
        `select id, commit = $2 and unpublished_operations = 0 and coalesce(held_until > clock_timestamp(), false)
                and replaced_at is null as ready
           from akin.collections where id = $1 for update`,
        [old.id, commit],
      );
      if (rows[0]?.ready !== true) return false;
      await guard(tx);

      // Changes that a later change of the same document has made void are not moved: copies are older than every
      // change, so nothing could detect this later.
      await tx.query(
        `create temporary table moved on commit drop as
         select o.*, r.first_seq, ${newDocSql(target, 'o.id')} as new_doc, false as again
           from ${S}.operations o join ${S}.requests r using (request)
          where r.first_seq is not null and o.state in ('queued', 'analyzing', 'ready', 'failed')
            and not (o.kind = 'add' and (
              exists (select from ${S}.documents d where d.id = o.id and d.seq > r.first_seq + o.position)
              or exists (select from ${S}.barriers b where b.id = o.id and b.seq > r.first_seq + o.position)))`,
      );
      if (!(await requeuePictures(tx, accepts))) return false;
      // Failed copies are listed as missing. Nobody can retry them, because their numbers are negative.
      await supersede(tx, store, T, `select request, position from ${T}.operations where state = 'failed'`);
      await tx.query(
        `insert into ${T}.requests (first_seq, count, created_at, accepted_at, finished, leaves_tombstones)
         select first_seq, count, created_at, accepted_at, finished, leaves_tombstones from ${S}.requests
          where request in (select request from moved)`,
      );
      await tx.query(
        `insert into ${T}.operations (request, position, kind, id, doc, document, analysis, modules, state, attempt, available_at,
                                      error_code, error_msg, host, failed_attempts, atomic, kept_version, bytes)
         select r.request, m.position, m.kind, m.id, case when m.kind = 'add' then m.new_doc end, m.document,
                case when not m.again then m.analysis end, m.modules,
                case when m.state = 'analyzing' then 'queued' else m.state end, m.attempt,
                case when m.state = 'queued' then m.available_at end, m.error_code, m.error_msg, m.host,
                m.failed_attempts, m.atomic, m.kept_version, m.bytes
           from moved m join ${T}.requests r using (first_seq)`,
      );
      await tx.query(
        `insert into ${T}.failure_counts (code, delta)
         select coalesce(error_code, 'internal'), count(*) from moved where state = 'failed' group by 1`,
      );
      for (const { name, descriptor } of store.modules) {
        if (descriptor === undefined) continue;
        const modelIn = (schema: string) => `(select model from ${schema}.descriptor_counts where module = '${name}')`;
        // Failed changes keep what they have, except descriptors of another size.
        await tx.query(
          `insert into ${descriptorTable(T, name)} (doc, vector, codes)
           select m.new_doc, v.vector, v.codes from moved m join ${descriptorTable(S, name)} v on v.doc = m.doc
            where not m.again and ${modelIn(S)} is not distinct from ${modelIn(T)}`,
        );
      }
      await tx.query(
        `insert into ${T}.thumbnails (doc, bytes, etag)
         select m.new_doc, t.bytes, t.etag from moved m join ${S}.thumbnails t on t.doc = m.doc where not m.again`,
      );
      await tx.query(`delete from ${T}.barriers`);
      await tx.query(`insert into ${T}.barriers select * from ${S}.barriers`);
      await copyTombstones(tx, old, target);
      await copyDecisions(tx, old, target);
      await tx.query(
        `update akin.collections t
            set next_seq = o.next_seq, settled_seq = null, predecessor = o.id, max_documents = o.max_documents,
                max_bytes = o.max_bytes
           from akin.collections o where t.id = $1 and o.id = $2`,
        [target.id, old.id],
      );
      await tx.query(
        `update akin.collections set name = left(name, 80) || '.replaced-' || id, replaced_at = now() where id = $1`,
        [old.id],
      );
      await tx.query('update akin.collections set name = $2 where id = $1', [target.id, old.name]);
      return true;
    },
    { lockTimeoutMilliseconds: 2_000 },
  );
}

/** With more ready operations, a commit must come before the swap. */
const MAX_READY = 1_000;

/**
 * Queues those pictures again that the old models have analyzed since the last commit, because their outputs would fail
 * in the new collection.
 *
 * @returns false if a commit has to apply them first: there are too many, or a client sent some of the outputs
 */
async function requeuePictures(tx: Queryable, accepts: (analysis: string) => boolean): Promise<boolean> {
  const ready = await tx.query<{ new_doc: bigint; attempt: number; analysis: string }>(
    `select new_doc, attempt, analysis from moved
      where state = 'ready' and analysis is not null limit ${MAX_READY + 1}`,
  );
  const refused = ready.filter(({ analysis }) => !accepts(analysis));
  if (refused.length === 0) return true;
  if (ready.length > MAX_READY || refused.some(({ attempt }) => attempt === 0)) return false;
  await tx.query(
    `update moved set state = 'queued', available_at = null, again = true where new_doc = any($1::bigint[])`,
    [refused.map(({ new_doc }) => new_doc)],
  );
  return true;
}
