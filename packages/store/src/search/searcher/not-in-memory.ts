import type { Queryable } from '../../database/engine/engine.ts';

/** A search needs data that is not in memory yet. */
export class NotInMemory {
  /** Undefined: rows are enough. */
  readonly module: string | undefined;
  /** Number of documents with a vector of the module. */
  readonly documents: number;
  readonly dimensions: number | undefined;

  constructor(module: string | undefined, documents: number, dimensions: number | undefined) {
    this.module = module;
    this.documents = documents;
    this.dimensions = dimensions;
  }
}

/** What a search by points needs: those of the documents that a commit shows, in a column of a module. */
export async function missingPoints(
  tx: Queryable,
  { sqlSchema }: { readonly sqlSchema: string },
  module: string,
  column: string,
  commit: bigint,
): Promise<NotInMemory> {
  const [row] = await tx.query<{ count: bigint }>(
    `select count(${column}) as count from ${sqlSchema}.documents where valid_from <= $1 and valid_to > $1`,
    [commit],
  );
  return new NotInMemory(module, Number(row?.count), 0);
}
