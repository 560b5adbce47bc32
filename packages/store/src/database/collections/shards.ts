import { AkinError, MAX_SHARDS } from '@akin/domain';
import type { Queryable } from '../engine/engine.ts';

/*
 * A collection may have several shards. The tables of its documents are then partitioned (by ranges of `doc`, the
 * number of a document's row), and statements on them stay the same. An id is always in the same shard, which its hash
 * decides. See docs/adr/0032-shards-are-partitions.md.
 */

/** Shard s has the documents from s · 2^40 to (s + 1) · 2^40 (exclusive). The greatest number is below 2^53. */
const SHARD_BITS = 40n;

interface Settings {
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface Tables extends Settings {
  readonly sqlSchema: string;
}

export function shardsOf({ settings }: Settings): number {
  return typeof settings.shards === 'number' ? settings.shards : 1;
}

/** @throws AkinError bad-request if a collection cannot have this number of shards */
export function requireShards(shards: number): void {
  if (Number.isInteger(shards) && shards >= 1 && shards <= MAX_SHARDS) return;
  throw new AkinError('bad-request', `A collection has 1 to ${MAX_SHARDS} shards.`);
}

/** SQL that draws the number of a new row for the document with the id of an expression. */
export function newDocSql(collection: Tables, id: string): string {
  const shards = shardsOf(collection);
  const { sqlSchema: S } = collection;
  if (shards === 1) return `nextval('${S}.doc')`;
  return `(nextval('${S}.doc') + (${shardOf(id, shards)} << ${SHARD_BITS}))`;
}

/**
 * SQL of the shard of an id; null for null. It must never change: ids are found by it.
 * SHA-256, because servers in FIPS mode refuse MD5.
 */
function shardOf(id: string, shards: number): string {
  return `(('x' || encode(substr(sha256(convert_to(${id}, 'UTF8')), 1, 4), 'hex'))::bit(32)::int8 % ${shards})`;
}

/** SQL of the shard of an operation, by the number that it drew: cheaper than a hash. A delete has no number. */
export function shardOfOperation(shards: number): string {
  return `coalesce(doc >> ${SHARD_BITS}, ${shardOf('id', shards)})`;
}

/** The range of the numbers of the rows of each shard: `from <= doc < to`. */
export function shardRanges(collection: Settings): { readonly from: bigint; readonly to: bigint }[] {
  return Array.from({ length: shardsOf(collection) }, (_, shard) => rangeOf(BigInt(shard)));
}

function rangeOf(shard: bigint): { from: bigint; to: bigint } {
  return { from: shard << SHARD_BITS, to: (shard + 1n) << SHARD_BITS };
}

/** The suffix of a partition's name after that of its table. Empty in a collection with one shard. */
export function partitionSuffixes(collection: Settings): string[] {
  const shards = shardsOf(collection);
  return shards === 1 ? [''] : Array.from({ length: shards }, (_, shard) => suffixOf(shard));
}

/**
 * The partition of a table with the rows of a shard, or the whole table. Lookups by id in the whole table read each
 * partition.
 */
export function partitionOf({ sqlSchema }: Tables, table: string, shard: number | undefined): string {
  return `${sqlSchema}.${table}${shard === undefined ? '' : suffixOf(shard)}`;
}

function suffixOf(shard: number): string {
  return `_s${shard}`;
}

/**
 * Partitions tables that are empty, and whose primary key is `doc`. Each partition gets the indexes of the table, also
 * the unique ones: no id is in two shards.
 */
export async function partitionTables(tx: Queryable, collection: Tables, tables: readonly string[]): Promise<void> {
  const shards = shardsOf(collection);
  if (shards === 1) return;
  for (const table of tables) {
    const whole = `${collection.sqlSchema}.${table}`;
    const first = whole + suffixOf(0);
    await tx.query(`alter table ${whole} rename to ${table}${suffixOf(0)}`);
    await tx.query(`alter index ${whole}_pkey rename to ${table}${suffixOf(0)}_pkey`);
    await tx.query(
      `create table ${whole} (like ${first} including defaults including storage, primary key (doc)) partition by range (doc)`,
    );
    for (let shard = 0; shard < shards; shard++) {
      const partition = whole + suffixOf(shard);
      if (shard > 0) {
        await tx.query(`create table ${partition} (like ${first} including all) with (vacuum_truncate = off)`);
      }
      const { from, to } = rangeOf(BigInt(shard));
      await tx.query(`alter table ${whole} attach partition ${partition} for values from (${from}) to (${to})`);
    }
  }
}
