import { AkinError } from '@akin/domain';
import type { Store } from '../../changes/context.ts';
import { appliedModules } from '../../database/collections/model-set.ts';
import type { Collection } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { findParts } from '../../search/find-parts.ts';
import { areaOf, exchanged, type PartBox } from '../../search/part-box.ts';
import { neededPoints } from '../../search/searcher/needed-in-memory.ts';

/** Documents that are compared between two writes of the progress. */
const CHUNK = 10;

/** Which pictures have a part in common. */
interface PartRule {
  /** The module with points. */
  readonly module: string;
  /** The least strength of a pair. */
  readonly minStrength: number;
}

/** The commit up to which pairs are current, the one up to which they are being updated, and the last document of it. */
interface PartState {
  readonly as_of_commit: bigint;
  readonly target_commit: bigint;
  readonly last_doc: bigint;
}

interface NewDocument {
  readonly doc: bigint;
  readonly id: string;
  readonly points: Buffer;
  /** The document that it replaced, if that had the same points. */
  readonly before: bigint | null;
}

/**
 * Compares the pictures that commits have added with all others by their points, as far as the time allows: the next
 * call continues there. Each step is a transaction that succeeds only if no other process was faster.
 *
 * @returns whether the pairs are current with the last commit, or there is no memory for the points
 */
export async function updatePartPairs(
  store: Store,
  collection: Collection,
  rule: PartRule,
  { milliseconds, signal }: { readonly milliseconds: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const column = store.modules.find(({ name }) => name === rule.module)?.points;
  if (column === undefined || !appliedModules(store, collection)?.includes(rule.module)) return true;
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const state = await begin(store, collection);
    if (state === undefined || state.as_of_commit === state.target_commit) return true;
    const documents = await readNew(store, collection, column, state);
    const pairs = await findPairs(store, collection, rule, column, documents, state, signal);
    if (pairs === 'later') return false;
    if (pairs === 'no space') return true;
    const last = documents.at(-1)?.doc;
    await write(store, collection, state, async (tx) => {
      if (!(await savePairs(tx, collection, documents, pairs))) return state;
      return last === undefined
        ? { ...state, as_of_commit: state.target_commit, last_doc: 0n }
        : { ...state, last_doc: last };
    });
    if (signal.aborted || performance.now() >= deadline) return false;
  }
}

/** The state, with a new target if the last one was reached. @returns undefined if the collection was dropped */
async function begin(store: Store, collection: Collection): Promise<PartState | undefined> {
  const { sqlSchema: S, id } = collection;
  const [row] = await store.engine.query<PartState & { commit: bigint }>(
    `select p.*, c.commit from akin.collections c, ${S}.part_state p where c.id = $1`,
    [id],
    'bulk',
  );
  if (row === undefined) return undefined;
  const { commit, ...state } = row;
  if (state.as_of_commit < state.target_commit || state.as_of_commit === commit) return state;
  const next = { as_of_commit: state.as_of_commit, target_commit: commit, last_doc: 0n };
  await write(store, collection, state, async () => next);
  return next;
}

/** Writes the next state in a transaction, with what belongs to it, unless another process was faster. */
async function write(
  store: Store,
  { sqlSchema: S }: Collection,
  from: PartState,
  write: (tx: Queryable) => Promise<PartState>,
): Promise<void> {
  await store.engine.transaction(
    async (tx) => {
      const locked = await tx.query(
        `select from ${S}.part_state where as_of_commit = $1 and target_commit = $2 and last_doc = $3 for update`,
        [from.as_of_commit, from.target_commit, from.last_doc],
      );
      if (locked.length === 0) return;
      const { as_of_commit, target_commit, last_doc } = await write(tx);
      await tx.query(`update ${S}.part_state set as_of_commit = $1, target_commit = $2, last_doc = $3`, [
        as_of_commit,
        target_commit,
        last_doc,
      ]);
    },
    { lane: 'bulk', keyed: true },
  );
}

function readNew(
  store: Store,
  { sqlSchema: S }: Collection,
  column: string,
  { as_of_commit, target_commit, last_doc }: PartState,
): Promise<NewDocument[]> {
  // The first pass reads all documents. `+ 0` prevents the index by commit, so they are read by number.
  const brought = as_of_commit === 0n ? 'd.valid_from + 0 > $1' : 'd.valid_from > $1';
  return store.engine.query<NewDocument & { points: Buffer }>(
    `select d.doc, d.id, d.${column} as points,
            (select o.doc from ${S}.documents o
              where o.id = d.id and o.valid_from <= $1 and o.valid_to = d.valid_from and o.${column} = d.${column}
              limit 1) as before
       from ${S}.documents d
      where ${brought} and d.valid_from <= $2 and d.valid_to > $2 and d.doc > $3 and d.${column} is not null
      order by d.doc limit ${CHUNK}`,
    [as_of_commit, target_commit, last_doc],
    'bulk',
  );
}

interface Pair {
  /** The query is the whole. */
  readonly box: PartBox;
  readonly part: bigint;
  readonly whole: bigint;
  readonly strength: number;
}

/** @returns later while the points are being read into memory */
async function findPairs(
  store: Store,
  collection: Collection,
  { module, minStrength }: PartRule,
  column: string,
  documents: readonly NewDocument[],
  { target_commit: commit }: PartState,
  signal: AbortSignal,
): Promise<Pair[] | 'later' | 'no space'> {
  const compared = documents.filter(({ before }) => before === null);
  if (compared.length === 0) return [];
  const state = await readPoints(store, collection, module, column, commit, signal);
  if (state !== 'in memory') return state;
  const pairs: Pair[] = [];
  for (const { doc, id, points } of compared) {
    const input = { module, points: Uint8Array.from(points), filters: [], signal, isBackground: true };
    const began = performance.now();
    const found = await findParts(store, collection, input).catch((error: unknown) => {
      if (error instanceof AkinError && error.code === 'unavailable') return undefined;
      throw error;
    });
    if (found === undefined) return 'later';
    for (const { doc: other, id: otherId, box, strength } of found.parts) {
      // A later commit may have replaced the document itself.
      if (otherId === id || strength < minStrength) continue;
      // The picture of which more is in common is the part.
      const isWhole = areaOf(box.document) >= areaOf(box.query);
      pairs.push(
        isWhole
          ? { part: other, whole: doc, box, strength }
          : { part: doc, whole: other, box: exchanged(box), strength },
      );
    }
    // Each takes the searcher as long as a search does.
    await store.throttle.pauseAfter(performance.now() - began, signal);
  }
  return pairs;
}

/** Reads the points into memory if that takes nothing from searched collections. */
async function readPoints(
  store: Store,
  collection: Collection,
  module: string,
  column: string,
  commit: bigint,
  signal: AbortSignal,
): Promise<'in memory' | 'later' | 'no space'> {
  const { engine, inMemory } = store;
  if (inMemory.loadedCollection(collection.id)?.hasModule(module)) return 'in memory';
  const read = (tx: Queryable) => neededPoints(tx, collection, module, column, commit);
  const missing = await engine.transaction(read, { lane: 'bulk' });
  const options = { commit, isWorthReading: true, signal };
  if (!inMemory.hasSpaceFor(collection, missing)) return 'no space';
  return (await inMemory.findForBackground({ engine }, collection, missing, options)) ? 'in memory' : 'later';
}

/** @returns false, without changes, if a replaced document, whose pairs would be taken over, was removed meanwhile */
async function savePairs(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  documents: readonly NewDocument[],
  pairs: readonly Pair[],
): Promise<boolean> {
  const replaced = documents.flatMap(({ before }) => before ?? []);
  // Rows are removed with their pairs.
  const kept = await tx.query(`select from ${S}.documents where doc = any($1::bigint[]) for share`, [replaced]);
  if (kept.length < replaced.length) return false;
  // One after the other: both documents of a pair may have been replaced.
  for (const { doc, before } of documents) {
    if (before === null) continue;
    await tx.query(
      `insert into ${S}.part_pairs
       select case part when $1 then $2 else part end, case whole when $1 then $2 else whole end,
              strength, part_box, whole_box, turn, scale, mirrored
         from ${S}.part_pairs where part = $1 or whole = $1 on conflict do nothing`,
      [before, doc],
    );
  }
  for (const { part, whole, strength, box } of pairs) {
    await tx.query(
      `insert into ${S}.part_pairs
       select $1::bigint, $2::bigint, $3::float8, $4::float8[], $5::float8[], $6::float8, $7::float8, $8::boolean
        where not exists (select from ${S}.part_pairs where part = $2 and whole = $1) on conflict do nothing`,
      [part, whole, strength, [...box.document], [...box.query], box.turn, box.scale, box.isMirrored],
    );
  }
  return true;
}

/** Removes the pairs of documents whose rows are removed. Until then, documents with the same points take them over. */
export async function removePartPairs(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  docs: readonly bigint[],
): Promise<void> {
  await tx.query(`delete from ${S}.part_pairs where part = any($1::bigint[]) or whole = any($1::bigint[])`, [docs]);
}
