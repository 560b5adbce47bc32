import { AkinError, type Query } from '@akin/domain';
import { type Candidates, mergeCandidates, queryForPart } from '@akin/searcher';
import { collectionOf } from '../collections/collections.ts';
import { loadSchema } from '../collections/schema.ts';
import { hasServers } from '../collections/shard-servers.ts';
import { shardRanges } from '../collections/shards.ts';
import type { Collection, Store } from '../context.ts';
import { FieldUses } from '../search/field-uses.ts';
import { InMemoryFilters } from '../search/in-memory-filters.ts';
import type { Snapshot } from '../search/snapshot.ts';
import { NotInMemory } from '../searcher/not-in-memory.ts';
import type { ReadCollection } from '../searcher/read-rows.ts';
import type { NodeRequest, NodeResponse } from './protocol.ts';

/** Options of a request. */
export interface RequestOptions {
  /** The shards to search. */
  readonly shards: readonly number[];
  /** Milliseconds in which missing data may be read into memory. If that is not enough, reading continues. */
  readonly readMilliseconds: number;
  /** Aborts when the client no longer waits for the response. */
  readonly signal: AbortSignal;
}

/**
 * Answers a request of a gateway, as a search node: finds candidates in some shards of a collection. Shards that are
 * not in memory, or not current in time, are missing in the response.
 *
 * @throws AkinError not-found if the collection was dropped, unavailable if the database does not have the commit,
 * bad-request for invalid queries
 */
export async function handleNodeRequest(
  store: Store,
  request: NodeRequest,
  { shards, readMilliseconds, signal }: RequestOptions,
): Promise<Omit<NodeResponse, 'assignedShards'>> {
  const { near, documents, commit } = request;
  const collection = await rememberedCollection(store, request.collection);
  const ranges = shardRanges(collection);
  if (ranges.length !== request.shards || shards.some((shard) => shard >= ranges.length)) {
    throw new AkinError('bad-request', `The collection ${collection.name} has ${ranges.length} shards.`);
  }
  const { length: shardCount } = ranges;
  const parts = shards.map((shard): ReadCollection => {
    const { from = 0n, to = 0n } = ranges[shard] ?? {};
    return { ...collection, part: { shard, shardCount, from: Number(from), to: Number(to) } };
  });
  await updateToCommit(store, collection, parts, request);
  const unread = parts.filter((part) => !store.inMemory.has(part, commit, near.module));
  if (unread.length > 0) {
    signal.throwIfAborted();
    const missing = new NotInMemory(near.module, Math.ceil(documents / shardCount), near.vector.length);
    await Promise.all(unread.map((part) => store.inMemory.read(store, part, missing, readMilliseconds)));
    await updateToCommit(store, collection, unread, request);
  }
  signal.throwIfAborted();
  const snapshot = await snapshotFor(store, collection, request);
  const found = await Promise.all(parts.map((part) => searchPart(store, part, snapshot, request)));
  const searched = found.filter((part) => part !== undefined);
  const candidates = searched.map((part) => part.candidates);
  return {
    shards: shards.filter((_, i) => found[i] !== undefined),
    candidates: candidates.length === 0 ? undefined : mergeCandidates(candidates, near),
    counts: request.countIndexes.map((_, i) => searched.reduce((sum, { counts }) => sum + (counts[i] ?? 0), 0)),
  };
}

async function rememberedCollection(store: Store, id: number): Promise<Collection> {
  const { collections } = store.memory;
  for (const known of collections.values()) if (known.id === id) return known;
  const found = await collectionOf(store, id);
  if (found === undefined) throw new AkinError('not-found', `There is no collection with the number ${id}.`);
  collections.set(found.name, found);
  return found;
}

/**
 * Reads the changes up to the commit, if they are few, and checks that the database has this very commit: a failover
 * may lose some, whose numbers are used again. One transaction after each commit; none otherwise.
 */
async function updateToCommit(
  store: Store,
  { id, sqlSchema }: Collection,
  parts: readonly ReadCollection[],
  { commit, committedAt, near: { module } }: NodeRequest,
): Promise<void> {
  const { inMemory } = store;
  const key = `${commit} ${committedAt}`;
  const stale = parts.filter((part) => inMemory.isLoaded(part) && !inMemory.has(part, commit, module));
  if (stale.length === 0 && store.memory.confirmedCommits.get(id) === key) return;
  await store.engine.transaction(
    async (tx) => {
      const sql = `select from ${sqlSchema}.commits where number = $1 and committed_at = $2::timestamptz`;
      const known = await tx.query(sql, [commit, committedAt]);
      if (known.length === 0) {
        throw new AkinError('unavailable', 'The database does not have the requested commit.', {
          retryAfterSeconds: 1,
        });
      }
      for (const part of stale) await inMemory.find(part, tx, commit, module);
    },
    { snapshot: true, timeoutMilliseconds: store.searchMilliseconds },
  );
  store.memory.confirmedCommits.set(id, key);
}

/** Each statement is a separate snapshot: rows of a commit are kept for longer than a search takes. */
async function snapshotFor(store: Store, collection: Collection, request: NodeRequest): Promise<Snapshot> {
  const { commit, committedAt, documents, near, schemaVersion } = request;
  const timeoutMilliseconds = store.searchMilliseconds;
  const query: Snapshot['explain'] = (sql, params = []) => store.engine.read(sql, params, { timeoutMilliseconds });
  // Columns in memory copy the values that a commit added.
  const copy = (sql: string) => store.engine.transaction((tx) => tx.copy(sql), { snapshot: true, timeoutMilliseconds });
  return {
    ...{ commit, committedAt },
    name: collection.name,
    sqlSchema: collection.sqlSchema,
    isRemote: hasServers(collection),
    schema: await loadSchema(store, collection, schemaVersion),
    modules: store.modules,
    documents: BigInt(documents),
    descriptorCounts: new Map([[near.module, documents]]),
    // The gateway records them.
    uses: new FieldUses(),
    expansions: new Map(request.expansions),
    tx: { query, copy },
    lookUp: query,
    explain: query,
  };
}

/** @returns undefined if the shard is not in memory as of the commit */
async function searchPart(
  store: Store,
  collection: ReadCollection,
  snapshot: Snapshot,
  request: NodeRequest,
): Promise<{ readonly candidates: Candidates; readonly counts: readonly number[] } | undefined> {
  const { near, queries, matchIndexes, countIndexes, collapsed, now, timeZone } = request;
  const { inMemory } = store;
  const { part } = collection;
  if (part === undefined || !inMemory.has(collection, request.commit, near.module)) return undefined;
  const held = await inMemory.find(collection, snapshot.tx, request.commit, near.module);
  if (held === undefined) return undefined;
  return inMemory.askOrUnload(held, async () => {
    using filters = new InMemoryFilters(held, { ...snapshot, part }, { now, timeZone }, store.exactDocuments, store);
    const uncached = new Set(queries.filter(({ isCached }) => !isCached).map(({ query }) => query));
    await filters.use(
      queries.map(({ name, query }) => [name, query]),
      uncached,
    );
    await filters.exclude(collapsed);
    const restrictedBy = (indexes: readonly number[]) => filters.of(indexes.map((i) => queries[i]?.query as Query));
    const commit = Number(request.commit);
    const search = held.search({ ...queryForPart(near, part.shardCount), ...restrictedBy(matchIndexes), commit });
    const [candidates] = await Promise.all([search, filters.loaded]);
    if (candidates === undefined || countIndexes.length === 0) return candidates && { candidates, counts: [] };
    const counts = await held.count({ commit, module: near.module, restrictions: countIndexes.map(restrictedBy) });
    return counts && { candidates, counts };
  });
}
