import { AkinError, type Query, withErrorContext } from '@akin/domain';
import { conditionOf } from './compile.ts';
import type { CompileContext } from './field-clauses.ts';
import type { Params } from './params.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * SQL that is true for the rows `d` of `documents` that a request may see: those that are visible in its commit and
 * match the filter of its key. Every statement that reads documents for a client contains it, so that nothing in a
 * request can switch the filter of a key off.
 */
export function visible(snapshot: Keyed & Pick<Snapshot, 'commit'>, params: Params): string {
  const commit = params.add(snapshot.commit, 'int8');
  return [`d.valid_from <= ${commit} and d.valid_to > ${commit}`, ...keyConditions(snapshot, params)].join(' and ');
}

/** The queries of the filter of the key, as conditions on a row `d` of `documents`. Empty if it has none. */
export function keyConditions(snapshot: Keyed, params: Params): string[] {
  const { key } = snapshot;
  if (key === undefined) return [];
  return key.queries.map((query) => compileKeyQuery(query, { tables: snapshot, params, ...key.clock }));
}

type Keyed = Pick<Snapshot, 'key' | 'sqlSchema' | 'schema' | 'modules'>;

/** A query of the filter of a key as SQL. @throws AkinError forbidden if it does not fit the fields of the collection */
export function compileKeyQuery(query: Query, context: CompileContext): string {
  try {
    return `(${withErrorContext('filter', () => conditionOf(query, context))})`;
  } catch (error) {
    if (!(error instanceof AkinError) || error.code !== 'bad-request') throw error;
    throw new AkinError('forbidden', 'The filter of this key does not fit the fields of this collection.', {
      cause: error,
    });
  }
}
