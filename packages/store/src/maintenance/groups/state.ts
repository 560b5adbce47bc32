import type { Collection } from '../../database/context.ts';
import type { Queryable, SqlValue } from '../../database/engine/engine.ts';

/** The progress of the groups of a collection: the one row of `grouping_state`. */
export interface GroupingState {
  /** The name of the rule that made the groups. Empty before there are any. */
  readonly rule: string;
  /** The groups are current up to this commit. */
  readonly as_of_commit: bigint;
  /** The commit up to which the groups are being updated. Equal to `as_of_commit` if no update runs. */
  readonly target_commit: bigint;
  /**
   * Number of the last document, among those that commits after `as_of_commit` added, that has its group. -1: the
   * documents that these commits replaced have left their groups, and no added document has a group yet. 0: the
   * replaced documents have not left their groups yet.
   */
  readonly last_doc: bigint;
  /**
   * The id of the transaction that wrote the row last. It changes with each write, and every new representative comes
   * with a write.
   */
  readonly version: string;
}

const COLUMNS = 'rule, as_of_commit, target_commit, last_doc, xmin::text as version';

export function readState(tx: Queryable, { sqlSchema: S }: Collection): Promise<GroupingState> {
  return oneState(tx, `select ${COLUMNS} from ${S}.grouping_state`);
}

/** Reads the state, and locks it until the end of the transaction: a process that changes groups needs this lock. */
export function lockState(tx: Queryable, { sqlSchema: S }: Collection): Promise<GroupingState> {
  return oneState(tx, `select ${COLUMNS} from ${S}.grouping_state for update`);
}

/** Writes the state, under its lock. @param assignments for `update … set`, with `params` @returns the new state */
export function writeState(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  assignments: string,
  params: readonly SqlValue[] = [],
): Promise<GroupingState> {
  return oneState(tx, `update ${S}.grouping_state set ${assignments} returning ${COLUMNS}`, params);
}

async function oneState(tx: Queryable, sql: string, params: readonly SqlValue[] = []): Promise<GroupingState> {
  const [state] = await tx.query<GroupingState>(sql, params);
  if (state === undefined) throw new Error('the state of the grouping is missing');
  return state;
}

/** Whether two states are equal apart from their versions: then only the state was written in between, if at all. */
export function isSame(a: GroupingState, b: GroupingState): boolean {
  return (
    a.rule === b.rule &&
    a.as_of_commit === b.as_of_commit &&
    a.target_commit === b.target_commit &&
    a.last_doc === b.last_doc
  );
}
