import { AkinError, type Query } from '@akin/domain';
import type { PartMatch } from '@akin/searcher';
import type { Collection, Store } from '../context.ts';
import type { InMemoryCollection } from '../searcher/in-memory-collection.ts';
import { NotInMemory } from '../searcher/not-in-memory.ts';
import { statements } from '../statements.ts';
import type { Clock } from './date-math.ts';
import { InMemoryFilters } from './in-memory-filters.ts';
import { type Snapshot, withSnapshot } from './snapshot.ts';

/** Candidates that are checked, of the picture and as many of its mirror image. */
const CHECKED = 20;

/** How long a search waits for points that are being read into memory: the database cannot do its work. */
const READ_MILLISECONDS = 20_000;
const NO_SPACE_MILLISECONDS = 500;

export interface PartsInput {
  /** The module with points, and the points of the picture as it writes them. */
  readonly module: string;
  readonly points: Uint8Array;
  /** Only documents that match all of these are found. */
  readonly filters: readonly Query[];
  readonly uncached?: ReadonlySet<Query>;
  readonly now?: Date;
  readonly timeZone?: string;
  /** As for a search. */
  readonly atLeast?: bigint | undefined;
}

/** A document whose picture has a part in common with the query. */
export interface FoundPart extends PartMatch {
  readonly id: string;
  /** Of its points, as the module writes them. */
  readonly points: Uint8Array;
  /** The transform maps to the mirror image of the query. */
  readonly isMirrored: boolean;
}

/**
 * Finds the documents whose pictures have a part in common with a picture: the searcher finds candidates by words of
 * points, and checks them by geometry.
 *
 * @throws AkinError unavailable if the points do not fit into memory, or are being read; bad-request for an invalid
 * filter
 */
export async function findParts(store: Store, collection: Collection, input: PartsInput): Promise<FoundPart[]> {
  const column = store.modules.find(({ name }) => name === input.module)?.points;
  if (column === undefined) throw new Error(`the module ${input.module} has no points`);
  const clock = { now: input.now ?? new Date(), timeZone: input.timeZone ?? 'UTC' };
  const attempt = () =>
    withSnapshot(
      store,
      collection,
      (snapshot) =>
        statements('SELECT parts', collection, () => find(store, collection, input, column, snapshot, clock)),
      { atLeast: input.atLeast, isCurrent: input.atLeast === undefined },
    );
  const end = performance.now() + READ_MILLISECONDS;
  for (;;) {
    const found = await attempt();
    if (!(found instanceof NotInMemory)) return found;
    const began = performance.now();
    const isThere = await store.inMemory.read(store, collection, found);
    // If there is no space, it says so at once.
    if (performance.now() > end || (!isThere && performance.now() - began < NO_SPACE_MILLISECONDS)) break;
  }
  throw new AkinError(
    'unavailable',
    'The points of pictures are being read into memory, or need more of it than --search-memory allows. Search again in a few seconds.',
    { retryAfterSeconds: 3 },
  );
}

async function find(
  store: Store,
  collection: Collection,
  { module, points, filters, uncached }: PartsInput,
  column: string,
  snapshot: Snapshot,
  clock: Clock,
): Promise<FoundPart[] | NotInMemory> {
  const { tx, commit, sqlSchema } = snapshot;
  const held = await store.inMemory.find(collection, tx, commit, module);
  if (held === undefined) {
    // Whatever the key may see: this is how much has to be read.
    const [row] = await tx.query<{ count: bigint }>(
      `select count(${column}) as count from ${sqlSchema}.documents where valid_from <= $1 and valid_to > $1`,
      [commit],
    );
    const count = Number(row?.count);
    return count === 0 ? [] : new NotInMemory(module, count, 0);
  }
  const found = await store.inMemory.askOrUnload(held, async () => {
    using matching = new InMemoryFilters(held, snapshot, clock, store.exactDocuments, store);
    await matching.use(
      filters.map((one) => ['fq', one] as const),
      uncached,
    );
    const asked = held.findParts({
      ...matching.of(filters),
      ...{ commit: Number(commit), module, points, count: CHECKED },
    });
    const [candidates] = await Promise.all([asked, matching.loaded]);
    return candidates && check(held, candidates, points, column, snapshot);
  });
  return found ?? new NotInMemory(module, Number(snapshot.documents), 0);
}

async function check(
  held: InMemoryCollection,
  candidates: readonly { readonly doc: number; readonly isMirrored: boolean }[],
  points: Uint8Array,
  column: string,
  { tx, sqlSchema }: Snapshot,
): Promise<FoundPart[]> {
  const docs = [...new Set(candidates.map(({ doc }) => doc))];
  if (docs.length === 0) return [];
  const rows = await tx.query<{ doc: bigint; id: string; points: Buffer }>(
    `select d.doc, d.id, decode(d.${column}, 'base64') as points from ${sqlSchema}.documents d
      where d.doc = any($1::bigint[])`,
    [docs.map(BigInt)],
  );
  const byDoc = new Map(rows.map((row) => [Number(row.doc), row]));
  const pairs = candidates.flatMap(({ doc, isMirrored }) => {
    const row = byDoc.get(doc);
    return row === undefined ? [] : [{ id: row.id, points: Uint8Array.from(row.points), isMirrored }];
  });
  const matches = await held.checkParts({ points, candidates: pairs });
  const best = new Map<string, FoundPart>();
  for (const [i, pair] of pairs.entries()) {
    const match = matches[i];
    if (match !== undefined && match.strength > (best.get(pair.id)?.strength ?? 0)) {
      best.set(pair.id, { ...pair, ...match });
    }
  }
  return [...best.values()].sort((a, b) => b.strength - a.strength);
}
