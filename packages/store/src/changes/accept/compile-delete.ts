import { AkinError, type ErrorCode, parseQuery } from '@akin/domain';
import { causeOf, reasonOf } from '../../database/engine/sqlstate.ts';
import { conditionOf } from '../../search/compile.ts';
import type { Params } from '../../search/params.ts';
import { CrashingDeleteError } from '../commit/crashes.ts';
import type { CollectionContext } from '../context.ts';

/**
 * The query of a delete as SQL over a row `d` of `documents`.
 *
 * @param acceptedAt the value of NOW: the time when the delete was accepted
 * @throws AkinError bad-request if the query cannot be parsed, or names an unknown field
 */
export function compileDelete(
  { store, collection, schema }: CollectionContext,
  query: string,
  acceptedAt: Date,
  params: Params,
): string {
  const tables = { sqlSchema: collection.sqlSchema, schema, modules: store.modules };
  try {
    return `(${conditionOf(parseQuery(query), { tables, params, now: acceptedAt, timeZone: 'UTC' })})`;
  } catch (error) {
    if (error instanceof AkinError) throw error;
    // A defect of akin, which every commit would meet again.
    throw new AkinError('bad-request', 'The query cannot be compiled.', { cause: error });
  }
}

export interface RefusedDelete {
  readonly code: ErrorCode;
  readonly msg: string;
}

/**
 * The reason of an error while a delete by query was applied. The delete was checked before it was accepted, but
 * perhaps before somebody changed the tables.
 *
 * @returns undefined if the delete is not the cause: it may succeed later
 */
export function refusedDelete(error: unknown): RefusedDelete | undefined {
  if (
    (error instanceof AkinError ? error.cause : error) instanceof CrashingDeleteError ||
    causeOf(error) !== 'server'
  ) {
    return { code: 'bad-request', msg: `The database cannot run the query: ${reasonOf(error)}` };
  }
  return error instanceof AkinError && error.code === 'bad-request'
    ? { code: error.code, msg: error.message }
    : undefined;
}
