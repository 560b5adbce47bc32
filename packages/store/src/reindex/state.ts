import { AkinError, type FieldType } from '@akin/domain';
import { createCollection, dropCollection } from '../collections/collections.ts';
import { defineFields } from '../collections/define-fields.ts';
import type { Collection, Store } from '../context.ts';
import { definedFields } from '../export/export-documents.ts';

type ReindexState = 'copying' | 'analyzing' | 'switching' | 'done' | 'failed';

/** A document that could not come along. */
export interface MissingDocument {
  readonly id: string;
  readonly code: string;
  readonly msg: string;
}

/** How far the reindex of a collection is, or how the last one ended. */
export interface Reindex {
  readonly state: ReindexState;
  readonly beganAt: Date;
  /** Documents to copy, and those that are. */
  readonly documents: number;
  readonly copied: number;
  /** Those whose pictures are analyzed again. */
  readonly analyzed: number;
  /** What went wrong. */
  readonly message: string | undefined;
  readonly missing: readonly MissingDocument[];
  /** Whether somebody is at it. */
  readonly alive: boolean;
}

/** The process at work says so more often. */
const ALIVE_SECONDS = 30;
const UNDER_WAY = "('copying', 'analyzing', 'switching')";
/**
 * Copies are older than every change, so they get numbers below 0: changes keep their numbers, and their order among
 * themselves and before the copies.
 */
const FIRST_COPY = -1_000_000_000_000;
/** Most missing documents that are listed. */
export const MOST_LISTED = 1_000;

/** @returns undefined when the collection was never reindexed */
export async function reindexState(store: Store, name: string): Promise<Reindex | undefined> {
  const [row] = await store.engine.query(
    `select state, began_at, documents, copied, analyzed, message, missing,
            state in ${UNDER_WAY} and beat_at > now() - interval '${ALIVE_SECONDS} seconds' as alive
       from akin.reindexes where name = $1`,
    [name],
  );
  if (row === undefined) return undefined;
  return {
    state: row.state,
    beganAt: row.began_at,
    documents: Number(row.documents),
    copied: Number(row.copied),
    analyzed: Number(row.analyzed),
    message: row.message ?? undefined,
    missing: JSON.parse(row.missing),
    alive: row.alive,
  };
}

/**
 * Makes the empty collection that is to take the place of another one, unless somebody is at it already. What an
 * earlier try left goes.
 *
 * @param worker names who is at it, unlike any other that ever was
 * @param fields types that differ from those of today, or are new
 * @returns undefined when somebody is at it
 */
export async function beginReindex(
  store: Store,
  collection: Collection,
  worker: string,
  fields: ReadonlyMap<string, FieldType>,
): Promise<Collection | undefined> {
  const rows = await store.engine.query<{ target: number | null }>(
    `insert into akin.reindexes as r (name, state, worker) values ($1, 'copying', $2)
     on conflict (name) do update
        set state = 'copying', worker = excluded.worker, beat_at = now(), began_at = now(), documents = 0, copied = 0,
            analyzed = 0, message = null, missing = '[]'
      where not (r.state in ${UNDER_WAY} and r.beat_at > now() - interval '${ALIVE_SECONDS} seconds')
     returning target`,
    [collection.name, worker],
  );
  const [begun] = rows;
  if (begun === undefined) return undefined;
  await dropTarget(store, collection, begun.target);
  const target = await createCollection(store, `${collection.name.slice(0, 90)}.reindex`, collection.settings);
  await store.engine.query('update akin.collections set next_seq = $2 where id = $1', [target.id, FIRST_COPY]);
  await store.engine.query('update akin.reindexes set target = $2 where name = $1', [collection.name, target.id]);
  await defineFields(store, target, new Map([...(await definedFields(store, collection)), ...fields]));
  return target;
}

/** Writes how far it is. @throws AkinError conflict when somebody else took it over */
export async function tellReindex(
  store: Store,
  collection: Collection,
  worker: string,
  change: Partial<Omit<Reindex, 'beganAt' | 'alive' | 'message'>> & { readonly message?: string },
): Promise<void> {
  const rows = await store.engine.query(
    `update akin.reindexes set beat_at = now(), state = coalesce($3, state), documents = coalesce($4, documents),
            copied = coalesce($5, copied), analyzed = coalesce($6, analyzed), message = coalesce($7, message),
            missing = coalesce($8, missing)
      where name = $1 and worker = $2 returning name`,
    [
      collection.name,
      worker,
      change.state ?? null,
      change.documents ?? null,
      change.copied ?? null,
      change.analyzed ?? null,
      change.message ?? null,
      change.missing === undefined ? null : JSON.stringify(change.missing.slice(0, MOST_LISTED)),
    ],
  );
  if (rows.length === 0) throw new AkinError('conflict', `Somebody else makes ${collection.name} anew by now.`);
}

/** Removes what was to take the place, and what held changes up. */
export async function abandonTarget(store: Store, collection: Collection, target: Collection): Promise<void> {
  await store.engine.query('update akin.collections set held_until = null where id = $1', [collection.id]);
  await dropTarget(store, collection, target.id);
}

/** Only one that did not take the place: by its name. */
async function dropTarget(store: Store, collection: Collection, id: number | null): Promise<void> {
  if (id === null) return;
  const [row] = await store.engine.query(
    'select id, name, sql_schema from akin.collections where id = $1 and name <> $2 and replaced_at is null',
    [id, collection.name],
  );
  if (row === undefined) return;
  await dropCollection(store, { id: row.id, name: row.name, sqlSchema: row.sql_schema, settings: {} });
}
