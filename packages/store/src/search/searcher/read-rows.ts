import { type Summary, summaryOf } from '@akin/searcher';
import { descriptorTable } from '../../database/collections/collection-tables.ts';
import type { Collection } from '../../database/context.ts';
import type { Transaction } from '../../database/engine/engine.ts';

/*
 * Reads rows for the searcher: those that are visible in a commit, and the changes between two commits. The results are
 * bytes in the format of @akin/searcher.
 */

export interface ReadModule {
  readonly name: string;
  /** The column of the points. Undefined: it has vectors. */
  readonly points?: string | undefined;
}

/** The number before the first row of a collection. */
export const BEFORE_FIRST = -1;

/** Rows per chunk, so that no chunk blocks the database or this process for long. */
export const CHUNK_ROWS = 4_000;

/** If more rows than this have ended, it is better to read all live rows. */
export const MAX_EXPIRED = 100_000;

/** The last commit that the searcher can count: 32 bits, of which the highest marks a live row. */
export const MAX_COMMIT = 2n ** 32n - 2n;

/** The rows that are visible in `upTo` and not in `after`. */
export interface Range {
  /** -1: none is known. */
  readonly after: bigint;
  readonly upTo: bigint;
}

export interface Chunk extends Summary {
  readonly bytes: Uint8Array;
}

/**
 * Reads the next rows of a range, in order of their number, with their vectors of some modules. The first chunk also
 * has the rows that the commits after `after`, up to `upTo`, have ended. It also says whether some of these rows may
 * already have been removed.
 *
 * @param behind the number of the last one read; {@link BEFORE_FIRST} at the beginning
 * @param maxExpired number of ended rows, of which at most one more is read
 */
export async function readChunk(
  tx: Transaction,
  collection: Collection,
  { after, upTo }: Range,
  modules: readonly ReadModule[],
  behind: number,
  maxExpired = MAX_EXPIRED,
): Promise<Chunk> {
  const { sqlSchema: S } = collection;
  const points = modules.flatMap(({ points }) => points ?? []);
  const vectors = modules.map(({ points }, i) => (points === undefined ? `, v${i}.vector` : `, d.${points}`)).join('');
  const nothing = modules.map(() => ', null').join('');
  // The condition on the row is repeated for the vectors: otherwise all of them could be read for each chunk. Rows are
  // chosen first, so that only their vectors are read.
  const joins = modules.map(({ name, points }, i) =>
    points === undefined
      ? `left join ${descriptorTable(S, name)} v${i} on v${i}.doc = d.doc and v${i}.doc > ${behind}`
      : '',
  );
  const parts = [
    `(select d.doc, d.valid_from, null::int8${vectors}
       from (select ${['doc, valid_from', ...points].join(', ')} from ${S}.documents
         where valid_from > ${after} and valid_from <= ${upTo} and valid_to > ${upTo} and doc > ${behind}
         order by doc limit ${CHUNK_ROWS}) d ${joins.join(' ')}
       order by d.doc)`,
  ];
  if (after >= 0n && behind === BEFORE_FIRST) {
    parts.push(
      `select null, coalesce(min(number), 0), null${nothing} from ${S}.commits`,
      `(select doc, null, valid_to${nothing} from ${S}.documents where valid_to > ${after} and valid_to <= ${upTo}
        limit ${maxExpired + 1})`,
    );
  }
  const bytes = await tx.copy(parts.join(' union all '));
  return { bytes, ...summaryOf(bytes) };
}

/** The vectors or points of a module after a row, in order of their number, including those of rows that no commit shows. */
export async function readVectors(
  tx: Transaction,
  collection: Collection,
  { name, points }: ReadModule,
  behind: number,
): Promise<Chunk> {
  const { sqlSchema: S } = collection;
  const [value, table, condition] =
    points === undefined
      ? ['vector', descriptorTable(S, name), 'true']
      : [points, `${S}.documents`, `${points} is not null`];
  const bytes = await tx.copy(
    `select doc, null::int8, null::int8, ${value} from ${table}
      where doc > ${behind} and ${condition} order by doc limit ${CHUNK_ROWS}`,
  );
  return { bytes, ...summaryOf(bytes) };
}

/**
 * Reads chunks in a pipeline: each one is read while the previous one is being added.
 *
 * @param first the number after which the rows begin
 */
export async function inPipeline(
  first: number,
  readNext: (behind: number) => Promise<Chunk>,
  take: (chunk: Chunk) => Promise<void>,
): Promise<void> {
  let behind = first;
  let taking: Promise<void> = Promise.resolve();
  for (;;) {
    const chunk = await readNext(behind);
    await taking;
    taking = take(chunk);
    // The failure is handled where the result is awaited.
    taking.catch(() => undefined);
    if (chunk.count < CHUNK_ROWS) return taking;
    behind = chunk.last;
  }
}
