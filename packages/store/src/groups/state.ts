import type { Collection } from '../context.ts';
import type { Queryable, SqlValue } from '../engine/engine.ts';

/** How far the groups of a collection are: the one row of `grouping`. */
export interface GroupingState {
  /** The name of the rule that made them; empty before the first. */
  readonly rule: string;
  /** They are right up to this commit. */
  readonly as_of: bigint;
  /** The commit up to which they are being brought; the same when nothing is under way. */
  readonly target: bigint;
  /** Of the documents that came since `as_of`, those with numbers up to this have been looked at. */
  readonly doc: bigint;
  /** Another one after each write of the row, with which all new representatives come: the transaction that wrote it. */
  readonly version: string;
}

const COLUMNS = 'rule, as_of, target, doc, xmin::text as version';

export async function readState(tx: Queryable, { sqlSchema: S }: Collection): Promise<GroupingState> {
  const [state] = await tx.query<GroupingState>(`select ${COLUMNS} from ${S}.grouping`);
  if (state === undefined) throw new Error('the state of the grouping is missing');
  return state;
}

/** A process that changes groups holds this lock to the end of its transaction. */
export async function lockState(tx: Queryable, { sqlSchema: S }: Collection): Promise<GroupingState> {
  const [state] = await tx.query<GroupingState>(`select ${COLUMNS} from ${S}.grouping for update`);
  if (state === undefined) throw new Error('the state of the grouping is missing');
  return state;
}

/** Writes the state, under its lock. @param assignments what `update` sets */
export async function writeState(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  assignments: string,
  params: readonly SqlValue[] = [],
): Promise<GroupingState> {
  const [state] = await tx.query<GroupingState>(`update ${S}.grouping set ${assignments} returning ${COLUMNS}`, params);
  if (state === undefined) throw new Error('the state of the grouping is missing');
  return state;
}

/** Whether groups are equally far. */
export function isSame(a: GroupingState, b: GroupingState): boolean {
  return a.rule === b.rule && a.as_of === b.as_of && a.target === b.target && a.doc === b.doc;
}
