import { AkinError, type ErrorDetail, quote } from '@akin/domain';
import type { Queryable } from '../../database/engine/engine.ts';
import type { CollectionContext } from '../context.ts';

const BATCH = 500;
const MAX_DETAILS = 100;
export const RETRY_SECONDS = 5;

/** The acceptance of a request, in its transaction. It holds the lock of the collection's row: nothing else is accepted. */
export interface Acceptance extends CollectionContext {
  readonly tx: Queryable;
  readonly request: bigint;
  /** The number that the first operation of the request gets. */
  readonly nextSeq: bigint;
}

interface StagedOperation {
  readonly position: number;
  readonly id: string;
  readonly expected: bigint | null;
}

export interface Problem {
  readonly text: string;
  /** Whether the same request may be accepted a moment later. */
  readonly isTemporary: boolean;
}

/**
 * Checks staged operations, and refuses the request if one of them has a problem.
 *
 * @param condition which of the operations with an id, as SQL
 * @param check gets the ids of a batch, and returns a function that checks an operation
 * @throws AkinError conflict with a detail for each problem; with a time to try again if one of them is temporary
 */
export async function refuseStaged(
  { tx, collection, request }: Acceptance,
  condition: string,
  check: (ids: readonly string[]) => Promise<(operation: StagedOperation) => Problem | undefined>,
): Promise<void> {
  const details: ErrorDetail[] = [];
  let isTemporary = false;
  for (let last = -1; ; ) {
    const staged = await tx.query<StagedOperation>(
      `select position, id, expected_version as expected from ${collection.sqlSchema}.operations
        where request = $1 and position > $2 and id is not null and ${condition} order by position limit ${BATCH}`,
      [request, last],
    );
    const end = staged.at(-1);
    if (end === undefined) break;
    last = end.position;
    const problemOf = await check([...new Set(staged.map(({ id }) => id))]);
    for (const operation of staged) {
      const problem = problemOf(operation);
      if (problem === undefined) continue;
      isTemporary ||= problem.isTemporary;
      const { position, id } = operation;
      const msg = `Document ${quote(id)} at position ${position}: ${problem.text}`;
      if (details.length < MAX_DETAILS) details.push({ position, id, code: 'conflict', msg });
    }
  }
  const [first] = details;
  if (first === undefined) return;
  throw new AkinError('conflict', `${first.msg} Nothing in the request was accepted.`, {
    details,
    ...(isTemporary ? { retryAfterSeconds: RETRY_SECONDS } : {}),
  });
}
