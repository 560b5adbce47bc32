import type { ModuleManifest } from '@akin/domain';
import { checkedName } from '../collections/collection-tables.ts';
import type { Collection, Store } from '../context.ts';
import type { Queryable } from '../engine/engine.ts';
import { CellFinder } from './codebook.ts';

/*
 * A generation is one arrangement of the descriptors of a module: a codebook, and a table `cells_<module>_<number>` that
 * has them once more, sorted by cell. It is derived from `descriptors_<module>` and can be made again at any time.
 *
 * Its life: `building`, while rows are copied into it and commits already write into it too; `current`, when searches
 * use it; `retired`, when the next one took its place, until no search can be under way that began before.
 */

/** What searches and commits know of a generation. */
export interface Generation {
  readonly module: string;
  readonly number: number;
  /** How many rows each cell has. */
  readonly sizes: Int32Array;
  /** No row of a cell lies farther from its centroid. */
  readonly radii: Float32Array;
}

export function cellTable(sqlSchema: string, module: string, number: number): string {
  return `${sqlSchema}.cells_${checkedName(module)}_${number}`;
}

/** The table of a new generation. A row is found by its number when it is removed. */
export async function createCellTable(
  tx: Queryable,
  sqlSchema: string,
  { name, descriptor }: ModuleManifest,
  number: number,
): Promise<void> {
  const table = cellTable(sqlSchema, name, number);
  await tx.query(
    `create table ${table} (
       doc bigint primary key,
       cell int not null,
       vector halfvec(${descriptor?.dimensions}) not null
     ) with (vacuum_truncate = off)`,
  );
  await tx.query(`create index on ${table} (cell)`);
}

/** Whoever writes rows of descriptors holds this shared; whoever begins, swaps or drops a generation holds it alone. */
export async function lockGenerations(tx: Queryable, collection: Collection, mode: 'shared' | 'alone'): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock${mode === 'shared' ? '_shared' : ''}(${LOCK}, $1::int)`, [
    collection.id,
  ]);
}

/** Any number that nobody else uses: "cell" in ASCII. */
const LOCK = 0x63656c6c;

/** The generation that a search uses; undefined while there is none. To be read in the snapshot of the search. */
export async function currentGeneration(
  tx: Queryable,
  sqlSchema: string,
  module: string,
): Promise<Generation | undefined> {
  const [row] = await tx.query<GenerationRow>(
    `select ${COLUMNS} from ${sqlSchema}.generations where module = $1 and state = 'current'`,
    [module],
  );
  return row && fromRow(row);
}

/**
 * The generations that commits write into. In a transaction that holds the lock they stay so until its end.
 * @param change for whoever is going to change their sizes and radii: nobody else does so until the transaction ends
 */
export async function liveGenerations(tx: Queryable, sqlSchema: string, change?: 'for update'): Promise<Generation[]> {
  const rows = await tx.query<GenerationRow>(
    `select ${COLUMNS} from ${sqlSchema}.generations where state <> 'retired' order by number ${change ?? ''}`,
  );
  return rows.map(fromRow);
}

const COLUMNS = 'module, number, sizes, radii';

interface GenerationRow extends Record<string, unknown> {
  readonly module: string;
  readonly number: number;
  readonly sizes: Buffer;
  readonly radii: Buffer;
}

function fromRow({ module, number, sizes, radii }: GenerationRow): Generation {
  return { module, number, sizes: new Int32Array(unpack(sizes)), radii: new Float32Array(unpack(radii)) };
}

/** The centroids of a generation; they never change, so this process reads them once. */
export async function finderOf(
  store: Store,
  collection: Collection,
  { module, number }: Pick<Generation, 'module' | 'number'>,
  tx: Queryable,
): Promise<CellFinder> {
  const key = `${collection.id} ${module}`;
  const known = store.memory.cells.get(key) ?? [];
  const same = known.find((one) => one.number === number);
  if (same !== undefined) return same.finder;
  const [row] = await tx.query<{ dimensions: number; centroids: Buffer; groups: Buffer }>(
    `select dimensions, centroids, groups from ${collection.sqlSchema}.generations where module = $1 and number = $2`,
    [module, number],
  );
  if (row === undefined) throw new Error(`generation ${number} of ${module} is gone`);
  const finder = new CellFinder({
    dimensions: row.dimensions,
    centroids: new Float32Array(unpack(row.centroids)),
    groups: new Int32Array(unpack(row.groups)),
  });
  // One that is current and one that is being built.
  store.memory.cells.set(key, [{ number, finder }, ...known.slice(0, 1)]);
  return finder;
}

/** Numbers as the bytes of a column. All machines that akin runs on are little-endian. */
export function pack(numbers: Float32Array | Int32Array): Buffer {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

function unpack(bytes: Buffer): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
