import { AkinError, type ErrorCode, parseQuery } from '@akin/domain';
import { CrashingDelete } from '../commit/crashes.ts';
import type { Collection, CollectionSchema, Store } from '../context.ts';
import { blameOf, reasonOf } from '../engine/sqlstate.ts';
import { compileQuery } from '../search/compile.ts';
import type { Params } from '../search/params.ts';

/**
 * The query of a delete as SQL over a row `d` of `documents`.
 * @param acceptedAt what NOW means: the delete speaks of the time when it was accepted
 * @throws AkinError bad-request when the query cannot be read, or names a field that no document has
 */
export function compileDelete(
  {
    store,
    collection,
    schema,
  }: { readonly store: Store; readonly collection: Collection; readonly schema: CollectionSchema },
  query: string,
  acceptedAt: Date,
  params: Params,
): string {
  const tables = { sqlSchema: collection.sqlSchema, schema, modules: store.modules };
  try {
    return `(${compileQuery(parseQuery(query), { tables, params, now: acceptedAt, timeZone: 'UTC' }, false).where})`;
  } catch (error) {
    if (error instanceof AkinError) throw error;
    // Our own mistake. It would be the same at every commit.
    throw new AkinError('bad-request', 'The query cannot be compiled.', { cause: error });
  }
}

/** Why a delete fails. */
export interface RefusedDelete {
  readonly code: ErrorCode;
  readonly msg: string;
}

/**
 * What an error says that came while a delete by query was applied. It was looked at before it was accepted, but by an
 * earlier version of akin perhaps, or before somebody changed the tables.
 *
 * @returns undefined when it is no fault of the delete: the same delete may succeed later
 */
export function refusedDelete(error: unknown): RefusedDelete | undefined {
  if ((error instanceof AkinError ? error.cause : error) instanceof CrashingDelete || blameOf(error) !== 'server') {
    return { code: 'bad-request', msg: `The database cannot run the query: ${reasonOf(error)}` };
  }
  return error instanceof AkinError && error.code === 'bad-request'
    ? { code: error.code, msg: error.message }
    : undefined;
}
