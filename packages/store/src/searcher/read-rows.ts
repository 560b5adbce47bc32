import { descriptorTable } from '../collections/collection-tables.ts';
import type { Queryable } from '../engine/engine.ts';

/*
 * The two questions that the searcher asks the store: which rows does a commit see, and what changed between two
 * commits? Answers come as bytes, in the form that @akin/searcher reads.
 */

/** The collection whose rows are read. */
export interface ReadCollection {
  readonly id: number;
  readonly name: string;
  readonly sqlSchema: string;
}

/** Rows of one answer, so that none holds the database or this process for long. */
export const CHUNK_ROWS = 4_000;

/** Rows that ended: where there are more it is better to read all that is left. */
export const MOST_ENDS = 100_000;

/** Commits in bytes of rows have 32 bits, of which the highest stands for a row that none has ended. */
export const LAST_COMMIT = 2n ** 32n - 2n;

/** Which rows are read: those that are seen by `upTo` and not by `after`. */
export interface Range {
  /** -1: none is known. */
  readonly after: bigint;
  readonly upTo: bigint;
}

export interface Chunk {
  readonly count: number;
  /** Where the next chunk begins. */
  readonly last: bigint;
  readonly rows: Buffer;
  /** By module. */
  readonly vectors: ReadonlyMap<string, Buffer>;
  /** Rows that commits after `after` ended, up to `upTo`; one more than {@link MOST_ENDS} at most. With the first chunk alone. */
  readonly ends: Buffer;
  /** Rows that commits up to this one ended may be gone from the tables. */
  readonly forgotten: bigint;
}

const NOTHING = Buffer.alloc(0);
/** Bytes of a row that ended. */
const END_BYTES = 12;

/** Whether more rows ended than were read. */
export function isCut({ ends }: Chunk, mostEnds: number): boolean {
  return ends.length > mostEnds * END_BYTES;
}

/**
 * Reads the next rows of a range, in order of their number, with their vectors of some modules.
 * @param behind the number of the last one read; null at the beginning
 * @param mostEnds one more is read at most
 */
export async function readChunk(
  tx: Queryable,
  { sqlSchema: S }: ReadCollection,
  { after, upTo }: Range,
  modules: readonly string[],
  behind: bigint | null,
  mostEnds = MOST_ENDS,
): Promise<Chunk> {
  const vectors = modules.map(
    (module, i) =>
      `(select string_agg(int8send(v.doc) || halfvec_send(v.vector), '') from ${descriptorTable(S, module)} v
         where v.doc in (select doc from fresh)) as vectors${i}`,
  );
  const ends =
    after < 0n || behind !== null
      ? 'null'
      : `(select string_agg(int8send(doc) || substring(int8send(valid_to) from 5), '')
            from (select doc, valid_to from ${S}.documents where valid_to > $1 and valid_to <= $2 limit ${mostEnds + 1}) e)`;
  const [row] = await tx.query(
    `with fresh as materialized (
       select doc, valid_from from ${S}.documents
        where valid_from > $1 and valid_from <= $2 and valid_to > $2 and doc > $3 order by doc limit ${CHUNK_ROWS}
     )
     select (select count(*) from fresh)::int as count,
            (select max(doc) from fresh) as last,
            (select string_agg(int8send(doc) || substring(int8send(valid_from) from 5), '') from fresh) as rows,
            ${['', ...vectors].join(', ').slice(2)}${vectors.length > 0 ? ',' : ''}
            ${ends}::bytea as ends,
            (select coalesce(min(number), 0) from ${S}.commits) as forgotten`,
    [after, upTo, behind ?? -1n],
  );
  return {
    count: row?.count ?? 0,
    last: row?.last ?? behind ?? -1n,
    rows: row?.rows ?? NOTHING,
    vectors: new Map(modules.map((module, i) => [module, (row?.[`vectors${i}`] as Buffer | null) ?? NOTHING])),
    ends: row?.ends ?? NOTHING,
    forgotten: row?.forgotten ?? 0n,
  };
}

/** The vectors of a module behind a row, in order of their number: those of rows that no commit sees too. */
export async function readVectors(
  tx: Queryable,
  { sqlSchema: S }: ReadCollection,
  module: string,
  behind: bigint,
): Promise<{ readonly count: number; readonly last: bigint; readonly bytes: Buffer }> {
  const [row] = await tx.query(
    `select count(*)::int as count, max(doc) as last, string_agg(int8send(doc) || halfvec_send(vector), '') as bytes
       from (select doc, vector from ${descriptorTable(S, module)} where doc > $1 order by doc limit ${CHUNK_ROWS}) v`,
    [behind],
  );
  return { count: row?.count ?? 0, last: row?.last ?? behind, bytes: row?.bytes ?? NOTHING };
}
