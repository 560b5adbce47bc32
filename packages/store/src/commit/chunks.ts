import { AkinError } from '@akin/domain';
import { descriptorTable, LIVE } from '../collections/collection-tables.ts';
import { chunkTable } from '../collections/server-tables.ts';
import { remoteShards } from '../collections/shard-servers.ts';
import { shardRanges } from '../collections/shards.ts';
import type { Queryable } from '../engine/engine.ts';
import type { CommitContext } from './commit-context.ts';
import { requireLease } from './leases.ts';

/*
 * A chunk that writes rows on other servers commits there first, and then on the main server. If the process dies in
 * between, the other servers are ahead: their new writes are undone before anything else is applied. For that, each
 * chunk has a number, which its rows contain: `inserted_chunk` for new rows, `ended_chunk` for ended ones. The main
 * server stores the number of the last chunk of each shard in `chunks`, the other server in a row that the chunk locks.
 * See ADR 38.
 */

/** A commit in a transaction that may write rows of documents. */
export interface ChunkContext extends CommitContext {
  /** The number of the transaction, in a collection with shards on other servers. */
  readonly chunk?: bigint;
}

/** The shards on other servers that the holder of this lease may write to. */
function shardsOn({ collection, lease }: CommitContext): number[] {
  const shards = remoteShards(collection).map(({ shard }) => shard);
  return lease !== undefined && 'claim' in lease ? shards.filter((shard) => shard === lease.shard) : shards;
}

/**
 * Starts a transaction of a commit that writes rows of documents: checks the lease, and gives the transaction its
 * number.
 *
 * @throws AkinError as {@link requireLease} does
 */
export async function beginChunk(tx: Queryable, context: CommitContext): Promise<ChunkContext> {
  const { collection, lease } = context;
  await requireLease(tx, collection, lease);
  const shards = shardsOn(context);
  if (shards.length === 0) return context;
  const S = collection.sqlSchema;
  const [row] = await tx.query<{ chunk: bigint }>(
    `with next as (select max(chunk) + 1 as chunk from ${S}.chunks where shard = any($1::int[]))
     update ${S}.chunks c set chunk = next.chunk from next where shard = any($1::int[]) returning c.chunk`,
    [shards],
  );
  const chunk = row?.chunk ?? 0n;
  // Waits for an abandoned chunk that has not ended on the other server.
  for (const shard of shards) await tx.query(`update ${chunkTable(collection, shard)} set chunk = $1`, [chunk]);
  return { ...context, chunk };
}

/**
 * Undoes writes on other servers of chunks that the main server did not commit. Call this before anything is applied or
 * published; after that, only a failing chunk can leave such writes again.
 */
export async function undoChunks(context: CommitContext): Promise<void> {
  const shards = shardsOn(context);
  if (shards.length === 0) return;
  const { store, collection, lease } = context;
  await store.engine.transaction(
    async (tx) => {
      await requireLease(tx, collection, lease);
      const known = await tx.query<{ shard: number; chunk: bigint }>(
        `select shard, chunk from ${collection.sqlSchema}.chunks where shard = any($1::int[])`,
        [shards],
      );
      for (const { shard, chunk } of known) {
        // Waits for a chunk that has not ended on the other server.
        const [row] = await tx.query<{ chunk: bigint }>(
          `select chunk from ${chunkTable(collection, shard)} for update`,
        );
        if (row === undefined || row.chunk < chunk) throw fellBehindError(context, shard);
        if (row.chunk > chunk) await undoShard(tx, context, shard, chunk);
      }
    },
    { lane: 'bulk', keyed: true },
  );
}

function fellBehindError({ collection }: CommitContext, shard: number): AkinError {
  const server = remoteShards(collection).find((one) => one.shard === shard)?.server;
  return new AkinError(
    'unavailable',
    `The shard server ${server} lacks changes that the collection ${collection.name} has, as after a restore or a promotion of a standby. Restore this server to a later point in time, or all servers to the same point in time.`,
  );
}

async function undoShard(
  tx: Queryable,
  { store, collection, target }: CommitContext,
  shard: number,
  chunk: bigint,
): Promise<void> {
  const S = collection.sqlSchema;
  // After a promotion of a standby of the main server, writes of several commits may have to be undone.
  const range = shardRanges(collection)[shard];
  const here = `doc >= ${range?.from} and doc < ${range?.to}`;
  const came = await tx.query<{ doc: bigint }>(
    `select doc from ${S}.documents where ${here} and valid_from >= $1 and inserted_chunk > $2`,
    [target, chunk],
  );
  const docs = came.map(({ doc }) => doc);
  const descriptors = store.modules.filter(({ descriptor }) => descriptor !== undefined);
  for (const table of [...descriptors.map(({ name }) => descriptorTable(S, name)), `${S}.documents`]) {
    await tx.query(`delete from ${table} where doc = any($1::bigint[])`, [docs]);
  }
  await tx.query(
    `update ${S}.documents set valid_to = ${LIVE}, ended_chunk = null
      where ${here} and valid_to < ${LIVE} and (valid_to >= $1 or valid_to < 0) and ended_chunk > $2`,
    [target, chunk],
  );
  await tx.query(`update ${chunkTable(collection, shard)} set chunk = $1`, [chunk]);
}
