import { AkinError, type Query } from '@akin/domain';
import type { PartMatch, Restriction } from '@akin/searcher';
import { descriptorTable } from '../database/collections/collection-tables.ts';
import type { Collection } from '../database/context.ts';
import { statements } from '../database/statements.ts';
import type { SearchStore } from './context.ts';
import { InMemoryFilters } from './in-memory-filters.ts';
import { distanceTo } from './matching.ts';
import { Params } from './params.ts';
import { type PartBox, partBox } from './part-box.ts';
import { readDescriptor } from './read.ts';
import type { Rank, RankByDocuments } from './request.ts';
import type { InMemoryCollection } from './searcher/in-memory-collection.ts';
import { type NeededInMemory, neededPoints } from './searcher/needed-in-memory.ts';
import { type Snapshot, withSnapshot } from './snapshot.ts';

/** The nearest documents by a descriptor that are candidates, too. */
const NEAREST = 20;
/** With more documents within the distance, the nearest ones are not looked for. */
const MAX_NEAR = 2_000;

/** By default, how long points that are being read into memory are waited for: the database cannot do its work. */
const READ_MILLISECONDS = 20_000;
const NO_SPACE_MILLISECONDS = 500;

export interface PartsInput {
  /** The module with points, and the points of the picture as it writes them. */
  readonly module: string;
  readonly points: Uint8Array;
  /** The nearest documents by a descriptor of the picture, up to its `maxDistance`, are candidates too. */
  readonly near?: RankByDocuments | undefined;
  /** Only documents that match all of these are found. */
  readonly filters: readonly Query[];
  readonly uncached?: ReadonlySet<Query>;
  readonly now?: Date;
  readonly timeZone?: string;
  /** As for a search. */
  readonly atLeast?: bigint | undefined;
  readonly waitMilliseconds?: number | undefined;
  /** Whether nobody waits for the result. */
  readonly isBackground?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A document whose picture has a part in common with the query. */
interface FoundPart {
  readonly doc: bigint;
  readonly id: string;
  readonly strength: PartMatch['strength'];
  readonly box: PartBox;
  /** Whether it is also within the `maxDistance` of `near`. */
  readonly isNear: boolean;
}

/** As of one commit, the strongest first. */
export interface FoundParts {
  readonly commit: number;
  readonly parts: readonly FoundPart[];
}

/**
 * Finds the documents whose pictures have a part in common with a picture: the searcher finds candidates by words of
 * points, and checks them by geometry.
 *
 * @param attempt runs each attempt: nothing is held while points are read into memory
 * @throws AkinError unavailable if the points do not fit into memory, or are being read; bad-request for an invalid
 * filter; the reason of the signal
 */
export async function findParts(
  store: SearchStore,
  collection: Collection,
  input: PartsInput,
  attempt: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Promise<FoundParts> {
  const { signal, atLeast, isBackground, waitMilliseconds = READ_MILLISECONDS } = input;
  const clock = { now: input.now ?? new Date(), timeZone: input.timeZone ?? 'UTC' };
  const inSnapshot = (snapshot: Snapshot) =>
    statements('SELECT parts', collection, () => find(collection, input, { ...snapshot, clock }));
  const freshness = { atLeast, isCurrent: atLeast === undefined, isBackground };
  const end = performance.now() + waitMilliseconds;
  for (;;) {
    signal?.throwIfAborted();
    const found = await attempt(() => withSnapshot(store, collection, inSnapshot, freshness));
    if (!('missing' in found)) return found;
    const began = performance.now();
    const isThere = await store.inMemory.read(store, collection, found.missing, end - began, signal);
    // If there is no space, it says so at once.
    if (performance.now() > end || (!isThere && performance.now() - began < NO_SPACE_MILLISECONDS)) break;
  }
  signal?.throwIfAborted();
  throw new AkinError(
    'unavailable',
    'The points of pictures are being read into memory, or need more of it than --search-memory allows. Search again in a few seconds.',
    { retryAfterSeconds: 3 },
  );
}

async function find(
  collection: Collection,
  { module, points, near, filters, uncached }: PartsInput,
  snapshot: Snapshot,
): Promise<FoundParts | { readonly missing: NeededInMemory }> {
  const { store, tx } = snapshot;
  const commit = Number(snapshot.commit);
  const column = store.modules.find(({ name }) => name === module)?.points;
  if (column === undefined) throw new Error(`the module ${module} has no points`);
  const held = await store.inMemory.find(collection, tx, snapshot.commit, module);
  if (held === undefined) {
    // Whatever the key may see: this is how much has to be read.
    const missing = await neededPoints(tx, snapshot, module, column, snapshot.commit);
    return missing.documents === 0 ? { commit, parts: [] } : { missing };
  }
  const rank = await near?.((id, by) => readDescriptor(snapshot, id, by));
  const found = await store.inMemory.askOrUnload(held, async () => {
    using matching = new InMemoryFilters(held, snapshot);
    await matching.use(
      filters.map((one) => ['fq', one] as const),
      uncached,
    );
    const restriction = { ...matching.of(filters), commit };
    const [candidates, nearest] = await Promise.all([
      held.findParts({ ...restriction, module, points }),
      rank && findNearest(held, rank, restriction, store.exactDocuments),
      matching.loaded,
    ]);
    if (candidates === undefined) return undefined;
    const seen = new Set(candidates.map(({ doc, isMirrored }) => `${doc} ${isMirrored}`));
    const others = (nearest ?? [])
      .flatMap((doc) => [false, true].map((isMirrored) => ({ doc, isMirrored })))
      .filter(({ doc, isMirrored }) => !seen.has(`${doc} ${isMirrored}`));
    return check(held, [...candidates, ...others], points, column, rank, snapshot);
  });
  if (found !== undefined) return { commit, parts: found };
  return { missing: { module, documents: Number(snapshot.documents), dimensions: 0 } };
}

/** The nearest documents by their codes. */
async function findNearest(
  held: InMemoryCollection,
  { module, vector, maxDistance }: Rank,
  restriction: Restriction & { readonly commit: number },
  exactRows: number,
): Promise<number[]> {
  // If the descriptors are not in memory, the search itself reads them.
  if (vector === undefined || maxDistance === undefined || !held.hasModule(module)) return [];
  const limits = { k: 0, exactRows, minCompared: 0, maxCandidates: MAX_NEAR };
  const found = await held.search({ ...restriction, ...limits, module, vector, maxDistance });
  const { docs, estimate } = found ?? { docs: [], estimate: [] };
  return Array.from(docs, (doc, i) => ({ doc, distance: estimate[i] as number }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEAREST)
    .map(({ doc }) => doc);
}

async function check(
  held: InMemoryCollection,
  candidates: readonly { readonly doc: number; readonly isMirrored: boolean }[],
  points: Uint8Array,
  column: string,
  rank: Rank | undefined,
  { tx, sqlSchema }: Snapshot,
): Promise<FoundPart[]> {
  const params = new Params();
  const docs = [...new Set(candidates.map(({ doc }) => BigInt(doc)))];
  if (docs.length === 0) return [];
  const isNear = rank?.vector
    ? `coalesce((select ${distanceTo(rank, params)} <= ${params.add(rank.maxDistance ?? Number.POSITIVE_INFINITY, 'float8')}
                   from ${descriptorTable(sqlSchema, rank.module)} v where v.doc = d.doc), false)`
    : 'false';
  const rows = await tx.query<{ doc: bigint; id: string; points: Buffer; is_near: boolean }>(
    `select d.doc, d.id, d.${column} as points, ${isNear} as is_near from ${sqlSchema}.documents d
      where d.doc = any(${params.add(docs, 'int8[]')}) and d.${column} is not null`,
    params.values,
  );
  const byDoc = new Map(rows.map((row) => [Number(row.doc), row]));
  const pairs = candidates.flatMap(({ doc, isMirrored }) => {
    const row = byDoc.get(doc);
    if (row === undefined) return [];
    return [{ ...row, points: Uint8Array.from(row.points), isMirrored }];
  });
  const matches = await held.checkParts({ points, candidates: pairs });
  const best = new Map<string, FoundPart>();
  for (const [i, { doc, id, is_near: isNear, points: found, isMirrored }] of pairs.entries()) {
    const match = matches[i];
    if (match === undefined || match.strength <= (best.get(id)?.strength ?? 0)) continue;
    const box = partBox(match, isMirrored, points, found);
    best.set(id, { doc, id, isNear, strength: match.strength, box });
  }
  return [...best.values()].sort((a, b) => b.strength - a.strength);
}
