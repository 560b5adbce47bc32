import { AkinError, type FieldType } from '@akin/domain';
import type { Store } from '../../changes/context.ts';
import { collectionOf, collectionStatus, createCollection } from '../../database/collections/collections.ts';
import { defineFields } from '../../database/collections/define-fields.ts';
import { modelName } from '../../database/collections/model-set.ts';
import { otherModels } from '../../database/collections/models.ts';
import { requireShards, shardsOf } from '../../database/collections/shards.ts';
import type { Collection } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { definedFields } from '../../search/export/export-documents.ts';
import { copyUses } from '../../search/field-uses.ts';
import { dropCollection } from '../drop-collection.ts';

type ReindexState = 'copying' | 'analyzing' | 'switching' | 'paused' | 'done' | 'failed';

export interface MissingDocument {
  readonly id: string;
  readonly code: string;
  readonly msg: string;
}

/** The progress of the reindex of a collection, or the result of the last one. */
export interface Reindex {
  readonly state: ReindexState;
  readonly beganAt: Date;
  /** The name of the new models, if one was given. */
  readonly model: string | undefined;
  readonly documents: number;
  readonly copied: number;
  /** Copies whose pictures are analyzed again. */
  readonly analyzed: number;
  /** Copies whose thumbnail was analyzed, because nothing else was available. */
  readonly thumbnails: number;
  /** Copies that wait for their analysis or for a commit. */
  readonly pending: number;
  readonly message: string | undefined;
  readonly missing: readonly MissingDocument[];
  /** Whether a process works on it. */
  readonly alive: boolean;
}

/** The options of a reindex. A process that continues it also needs them. */
export interface ReindexSettings {
  /** Swaps even if documents are missing, or were copied without outputs. */
  readonly allowMissing?: boolean;
  /** Name of the collection with outputs by id for documents whose own outputs are invalid. */
  readonly outputsFrom?: string;
  /** The name of the new models. Default: those of the collection, or of this process. */
  readonly model?: string;
  /** Number of shards. Default: unchanged. */
  readonly shards?: number;
}

export interface StartedReindex {
  readonly target: Collection;
  readonly settings: ReindexSettings;
}

/** A reindex without a report for this time has no process. */
const ALIVE_SECONDS = 30;
const UNDER_WAY = "('copying', 'analyzing', 'switching')";
const ALIVE = `(r.state in ${UNDER_WAY} and r.heartbeat_at > now() - interval '${ALIVE_SECONDS} seconds')`;
/** A reindex whose process has ended. */
const ORPHANED = `(r.state in ${UNDER_WAY} and r.heartbeat_at <= now() - interval '${ALIVE_SECONDS} seconds')`;
/**
 * Copies are older than every change, so they get numbers below 0: changes keep their numbers, and their order among
 * each other and relative to the copies.
 */
export const FIRST_COPY = -1_000_000_000_000;
export const MAX_LISTED = 1_000;

/** @returns undefined if it was never reindexed */
export async function reindexState(store: Store, name: string): Promise<Reindex | undefined> {
  const [row] = await store.engine.query(
    `select r.state, began_at as "beganAt", r.documents::float8 as documents, copied::float8 as copied,
            analyzed::float8 as analyzed, thumbnails::float8 as thumbnails, message, missing, r.settings,
            ${ALIVE} as alive, c.id as target, c.sql_schema
       from akin.reindexes r left join akin.collections c on c.id = r.target and c.name <> r.name where r.name = $1`,
    [name],
  );
  if (row === undefined) return undefined;
  const { settings, target, sql_schema: sqlSchema, message, missing, ...progress } = row;
  const { model }: ReindexSettings = JSON.parse(settings);
  return {
    ...(progress as Pick<Reindex, 'state' | 'beganAt' | 'documents' | 'copied' | 'analyzed' | 'thumbnails' | 'alive'>),
    model,
    pending: target === null ? 0 : await pendingIn(store, { id: target, sqlSchema }),
    message: message ?? undefined,
    missing: JSON.parse(missing),
  };
}

/** Number of copies that wait in a target. 0 if the target was removed in the meantime. */
async function pendingIn(store: Store, target: Pick<Collection, 'id' | 'sqlSchema'>): Promise<number> {
  const status = await collectionStatus(store, { name: '', settings: {}, ...target }).catch(() => undefined);
  return status?.pending ?? 0;
}

/**
 * Creates the empty target collection, unless a reindex runs or is paused. Removes left-overs of an earlier attempt.
 *
 * @param holder unique name of the process
 * @param fields new types, or new fields
 * @returns the target. Undefined if a reindex runs or is paused
 * @throws AkinError bad-request if the models are not here, or the number of shards is not possible
 */
export async function beginReindex(
  store: Store,
  collection: Collection,
  holder: string,
  fields: ReadonlyMap<string, FieldType>,
  settings: ReindexSettings = {},
): Promise<Collection | undefined> {
  if (settings.model !== undefined) await store.modelSets.ofName(settings.model);
  if (settings.shards !== undefined) requireShards(settings.shards);
  const rows = await store.engine.query<{ target: number | null }>(
    `with before as (select target from akin.reindexes where name = $1)
     insert into akin.reindexes as r (name, state, holder, settings) values ($1, 'copying', $2, $3)
     on conflict (name) do update
        set state = 'copying', target = null, holder = excluded.holder, heartbeat_at = now(),
            began_at = now(), documents = 0, copied = 0, analyzed = 0, thumbnails = 0,
            message = null, missing = '[]', settings = excluded.settings
      where not ${ALIVE}
        and not (r.state = 'paused' and exists (select from akin.collections c where c.id = r.target))
     returning (select target from before) as target`,
    [collection.name, holder, JSON.stringify(settings)],
  );
  const [begun] = rows;
  if (begun === undefined) return undefined;
  try {
    await dropTarget(store, collection, begun.target);
    return await createTarget(store, collection, fields, settings);
  } catch (error) {
    const message = error instanceof AkinError ? error.message : 'It could not start. The log contains the reason.';
    await saveProgress(store, collection, holder, { state: 'failed', message }).catch(() => undefined);
    throw error;
  }
}

async function createTarget(
  store: Store,
  collection: Collection,
  fields: ReadonlyMap<string, FieldType>,
  settings: ReindexSettings,
): Promise<Collection> {
  const { model = collection.settings.model, shards = shardsOf(collection) } = settings;
  const target = await createCollection(store, `${collection.name.slice(0, 90)}.reindex`, {
    ...collection.settings,
    ...(model === undefined ? {} : { model }),
    ...(shards === 1 && collection.settings.shards === undefined ? {} : { shards }),
  });
  await store.engine.query('update akin.collections set next_seq = $2 where id = $1', [target.id, FIRST_COPY]);
  await store.engine.query('update akin.reindexes set target = $2 where name = $1', [collection.name, target.id]);
  await defineFields(store, target, new Map([...(await definedFields(store, collection)), ...fields]));
  await copyUses(store, collection, target);
  return target;
}

/** Makes the running process stop, and its pictures are not queued. @returns false if there is nothing to pause */
export async function pauseReindex(store: Store, collection: Collection): Promise<boolean> {
  const rows = await store.engine.query(
    `update akin.reindexes set state = 'paused' where name = $1 and state in ('copying', 'analyzing') returning name`,
    [collection.name],
  );
  return rows.length > 0;
}

/**
 * Continues a paused reindex, or one whose process is gone.
 *
 * @returns undefined if there is none, or the target collection is gone
 * @throws AkinError conflict if its models are missing here: outputs of other models would be copied as if they were
 * from these
 */
export async function resumeReindex(
  store: Store,
  collection: Collection,
  holder: string,
): Promise<StartedReindex | undefined> {
  const sql = 'select target from akin.reindexes where name = $1 and target is not null';
  const [found] = await store.engine.query<{ target: number }>(sql, [collection.name]);
  const target = found && (await collectionOf(store, found.target));
  if (target === undefined) return undefined;
  await requireModels(store, target);
  const [row] = await store.engine.query<{ settings: string }>(
    `update akin.reindexes r set state = 'copying', holder = $2, heartbeat_at = now(), missing = '[]', message = null
       from akin.collections c
      where r.name = $1 and r.target = $3 and c.id = r.target and c.name <> r.name
        and (r.state = 'paused' or ${ORPHANED})
      returning r.settings`,
    [collection.name, holder, target.id],
  );
  return row && { settings: JSON.parse(row.settings), target };
}

/**
 * The names of the collections whose reindex is unfinished and has lost its process. A reindex whose process ended
 * between the swap and the report is recorded as done.
 */
export async function orphanedReindexes(store: Store): Promise<string[]> {
  await store.engine.query(
    `update akin.reindexes r set state = 'done' from akin.collections c
      where ${ORPHANED} and c.id = r.target and c.name = r.name`,
  );
  const rows = await store.engine.query<{ name: string }>(
    `select r.name from akin.reindexes r join akin.collections c on c.id = r.target where ${ORPHANED}`,
  );
  return rows.map(({ name }) => name);
}

/** Releases a reindex, so that the next process need not wait until this one counts as gone. */
export async function releaseReindex(store: Store, collection: Collection, holder: string): Promise<void> {
  await store.engine.query(`update akin.reindexes set heartbeat_at = '-infinity' where name = $1 and holder = $2`, [
    collection.name,
    holder,
  ]);
}

/** @throws AkinError bad-request or conflict if the models of a collection are not here */
async function requireModels(store: Store, target: Collection): Promise<void> {
  const model = modelName(target);
  if (model !== undefined) await store.modelSets.ofName(model);
  const [other] = await otherModels(store, target);
  if (other === undefined) return;
  throw new AkinError(
    'conflict',
    `The reindex uses the ${other.module} model ${other.model}, which is not available here: start akin with that model, or continue on a process that has it.`,
  );
}

/** @throws AkinError conflict if another process runs the reindex now, or it is paused */
export async function requireOwnReindex(
  tx: Queryable,
  collection: Collection,
  target: Collection,
  holder: string,
): Promise<void> {
  const rows = await tx.query(
    `select from akin.reindexes where name = $1 and holder = $2 and target = $3 and state <> 'paused' for share`,
    [collection.name, holder, target.id],
  );
  if (rows.length === 0) throw notOwn(collection);
}

function notOwn({ name }: Collection): AkinError {
  return new AkinError('conflict', `The reindex of ${name} is paused, or another process runs it now.`);
}

/** @throws AkinError conflict if another process took over, or it was paused */
export async function saveProgress(
  store: Store,
  collection: Collection,
  holder: string,
  change: Partial<Omit<Reindex, 'beganAt' | 'alive' | 'message' | 'pending' | 'model'>> & { readonly message?: string },
): Promise<void> {
  const rows = await store.engine.query(
    `update akin.reindexes set heartbeat_at = now(), state = coalesce($3, state), documents = coalesce($4, documents),
            copied = coalesce($5, copied), analyzed = coalesce($6, analyzed), message = coalesce($7, message),
            missing = coalesce($8, missing), thumbnails = coalesce($9, thumbnails)
      where name = $1 and holder = $2 and state <> 'paused' returning name`,
    [
      collection.name,
      holder,
      change.state ?? null,
      change.documents ?? null,
      change.copied ?? null,
      change.analyzed ?? null,
      change.message ?? null,
      change.missing === undefined ? null : JSON.stringify(change.missing.slice(0, MAX_LISTED)),
      change.thumbnails ?? null,
    ],
  );
  if (rows.length === 0) throw notOwn(collection);
}

/** Removes the target, and the block of changes. */
export async function abandonTarget(store: Store, collection: Collection, target: Collection): Promise<void> {
  await store.engine.query('update akin.collections set held_until = null where id = $1', [collection.id]);
  await dropTarget(store, collection, target.id);
}

/** Drops the target, unless it has replaced the collection: then it has the name. */
async function dropTarget(store: Store, collection: Collection, id: number | null): Promise<void> {
  const target = id === null ? undefined : await collectionOf(store, id);
  if (target !== undefined && target.name !== collection.name) await dropCollection(store, target);
}
