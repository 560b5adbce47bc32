import type { Collection } from '../../database/context.ts';
import type { Engine, Transaction } from '../../database/engine/engine.ts';
import { FRESHNESS_COLUMNS, type Standbys } from '../../database/standbys/standbys.ts';

export interface RowSource {
  /** The primary. */
  readonly engine: Engine;
  /** Used first, if there are any. */
  readonly standbys?: Standbys;
}

/**
 * Reads a chunk for the searcher. On the embedded database, other statements have priority. A pin must keep the rows of
 * the commit: then all of them are on each standby that has reached that commit.
 *
 * @param withoutSort nearly all rows are read, in order of their number: the database does not sort them for each piece
 */
export async function readFrom<T>(
  { engine, standbys }: RowSource,
  collection: Collection,
  upTo: bigint,
  work: (tx: Transaction) => Promise<T>,
  withoutSort = true,
): Promise<T> {
  const options = { lane: 'bulk', withoutSort } as const;
  const first = `select ${FRESHNESS_COLUMNS} from akin.collections where id = ${Number(collection.id)}`;
  const found = await standbys?.read(collection, { atLeast: upTo, isCurrent: false }, (standby, require) =>
    standby.transaction(
      async (tx, [row]) => {
        await require(row);
        return work(tx);
      },
      { ...options, first },
    ),
  );
  return found === undefined ? engine.transaction(work, options) : found.value;
}
