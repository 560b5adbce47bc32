import type { Queryable } from '../../database/engine/engine.ts';

/** The data that a search needs in memory. */
export interface NeededInMemory {
  /** Undefined: rows are enough. */
  readonly module: string | undefined;
  /** Number of documents with a vector of the module. */
  readonly documents: number;
  readonly dimensions: number | undefined;
}

/** What a search by points needs: those of the documents that a commit shows, in a column of a module. */
export async function neededPoints(
  tx: Queryable,
  { sqlSchema }: { readonly sqlSchema: string },
  module: string,
  column: string,
  commit: bigint,
): Promise<NeededInMemory> {
  const [row] = await tx.query<{ count: bigint }>(
    `select count(${column}) as count from ${sqlSchema}.documents where valid_from <= $1 and valid_to > $1`,
    [commit],
  );
  return { module, documents: Number(row?.count), dimensions: 0 };
}
