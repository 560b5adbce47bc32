import { AkinError, type Query } from '@akin/domain';
import { loadSchema } from '../database/collections/schema.ts';
import type { Collection, CollectionSchema } from '../database/context.ts';
import type { Engine, Queryable, Row, SqlValue, Transaction } from '../database/engine/engine.ts';
import { wasCancelled } from '../database/engine/sqlstate.ts';
import { remembered } from '../database/memory.ts';
import { FRESHNESS_COLUMNS, type Freshness } from '../database/standbys/standbys.ts';
import type { SearchedTables } from './columns.ts';
import type { SearchStore } from './context.ts';
import type { Clock } from './date-math.ts';
import { type FieldUses, recordUses } from './field-uses.ts';
import { keyFilterFor, type ShownPart } from './keys/key-filter.ts';
import type { Params } from './params.ts';

/** The visible state of a collection, as this process last read it. */
interface VisibleCommit {
  readonly name: string;
  readonly commit: bigint;
  /** Distinguishes this state from all earlier and later ones: see `FINGERPRINT`. */
  readonly fingerprint: string;
  readonly documents: bigint;
  readonly schema: CollectionSchema;
  /** Number of documents with the descriptor of each module. */
  readonly descriptorCounts: ReadonlyMap<string, number>;
}

export const visibleCommitsOf = remembered<VisibleCommit>();

/** The visible state of a commit, for the statements of one request. */
export interface Snapshot extends SearchedTables {
  /** The present name of the collection: another collection may have taken the name that the caller knows. */
  readonly name: string;
  readonly store: SearchStore;
  /** One moment for all statements of the request, and the time zone of date math. */
  readonly clock: Clock;
  readonly tx: Transaction;
  /** For a statement that finds few documents by their keys, whatever its values are: it may be planned once. */
  readonly lookUp: Queryable['query'];
  /** The filter of the key of the request, see `visible.ts`. Undefined: it sees all documents. */
  readonly key: ShownPart | undefined;
  readonly commit: bigint;
  readonly documents: bigint;
  /** Number of visible documents with the descriptor of each module. */
  readonly descriptorCounts: ReadonlyMap<string, number>;
  readonly uses: FieldUses;
  readonly expansions: Map<Query, readonly string[]>;
  /** Includes all documents within the greatest distance of a ranking. Undefined: any document may be within it. */
  readonly near?: NearDocuments | undefined;
  /** Matching documents that are left out, because another one represents them. */
  readonly collapsed?: readonly bigint[] | undefined;
  /** SQL that is true for the rows `d` of those matching documents that are seen. Undefined: all. */
  readonly shown?: ((params: Params) => string) | undefined;
}

/**
 * Runs the statements of one request on one commit: its number is read first, and decides which rows are visible (see
 * `visible.ts`). All statements also run in one read-only database snapshot, so that rows which a later commit
 * replaced cannot be removed in between, however long the request takes.
 *
 * @param freshness what a standby must have so that it can be read; undefined: the primary is read. `work` may be
 * called a second time, if the standby fails.
 * @throws AkinError unavailable if a statement takes too long, or the primary does not have the required commit
 */
export async function withSnapshot<T>(
  store: SearchStore,
  collection: Collection,
  work: (snapshot: Snapshot) => Promise<T>,
  freshness?: Freshness,
): Promise<T> {
  const uses: FieldUses = new Set();
  let shown: VisibleCommit | undefined;
  const read = (engine: Engine, check: Check) =>
    engine.transaction(
      async (tx, [first]) => {
        const row = first as SnapshotRow | undefined;
        await check(first);
        if (row === undefined) {
          throw new AkinError('not-found', `The collection ${collection.name} no longer exists.`);
        }
        const schema = await loadSchema(store, collection, row.schema_version, tx);
        const descriptorCounts = new Map<string, number>(Object.entries(JSON.parse(row.descriptor_counts)));
        const { name, commit, documents, fingerprint } = row;
        shown = { name, commit, documents, fingerprint, schema, descriptorCounts };
        visibleCommitsOf(store).set(collection.id, shown);
        return work(snapshotOf(store, collection, shown, uses, { tx, lookUp: tx.query }));
      },
      {
        snapshot: true,
        timeoutMilliseconds: store.searchMilliseconds,
        first: `select ${FRESHNESS_COLUMNS}, name, documents, schema_version,
                (select coalesce(json_object_agg(module, documents), '{}')
                   from ${collection.sqlSchema}.descriptor_counts)::text as descriptor_counts
           from akin.collections where id = ${Number(collection.id)}`,
      },
    );
  const value = await readWithFreshness(store, collection, freshness, read);
  await recordUses(store, collection, shown?.documents ?? 0n, uses);
  return value;
}

/**
 * As {@link withSnapshot}, for `work` with few statements, so that a commit between them is unlikely: at first without a
 * transaction around them.
 *
 * @param work never resolves to undefined
 */
export async function withFewStatements<T>(
  store: SearchStore,
  collection: Collection,
  work: (snapshot: Snapshot) => Promise<T>,
  freshness?: Freshness,
): Promise<T> {
  return (
    (await withoutTransaction(store, collection, work, freshness)) ?? withSnapshot(store, collection, work, freshness)
  );
}

/**
 * Runs statements on the commit that this process saw last. Each statement is a separate snapshot, and returns the state
 * of the collection: if it is always the same, all of them are of one commit.
 *
 * @returns undefined if the state of the collection has changed, or is unknown
 */
async function withoutTransaction<T>(
  store: SearchStore,
  collection: Collection,
  work: (snapshot: Snapshot) => Promise<T>,
  freshness?: Freshness,
): Promise<T | undefined> {
  const shown = visibleCommitsOf(store).get(collection.id);
  if (shown === undefined || shown.commit < (freshness?.atLeast ?? 0n)) return undefined;
  const uses: FieldUses = new Set();
  const read = async (engine: Engine, check: Check) => {
    let isChecked = false;
    const ask = async <R extends Row>(
      sql: string,
      params: readonly SqlValue[] = [],
      prepared = false,
    ): Promise<R[]> => {
      const rows = await engine.read<R>(
        // A join of one row without a condition is a loop over the rows of the statement, which stay in their order.
        `select s.*, r.* from (select ${FRESHNESS_COLUMNS} from akin.collections where id = ${Number(collection.id)}) s
           left join (select true as there, r.* from (${sql}) r) r on true`,
        params,
        { timeoutMilliseconds: store.searchMilliseconds, prepared },
      );
      const [first] = rows;
      await check(first);
      if (first?.fingerprint !== shown.fingerprint) throw new OutdatedError();
      isChecked = true;
      return first?.there === null ? [] : rows;
    };
    const tx: Transaction = {
      query: (sql, params) => ask(sql, params),
      copy: () => Promise.reject(new OutdatedError()),
    };
    const isLarge = shown.documents >= PREPARED_FROM;
    try {
      const lookUp: Queryable['query'] = (sql, params) => ask(sql, params, isLarge);
      const value = await work(snapshotOf(store, collection, shown, uses, { tx, lookUp }));
      // A result from the counts of the commit alone has read nothing: check the state once.
      if (!isChecked) await ask('select 1 as one');
      return value;
    } catch (error) {
      // An error of the query may be due to outdated fields in this process.
      if (error instanceof OutdatedError || (error instanceof AkinError && error.code !== 'unavailable'))
        return undefined;
      throw error;
    }
  };
  const value = await readWithFreshness(store, collection, freshness, read);
  if (value === undefined) visibleCommitsOf(store).delete(collection.id);
  else await recordUses(store, collection, shown.documents, uses);
  return value;
}

/** From this number of documents on, tables are so large that one of them is always found by an index. */
const PREPARED_FROM = 5_000;

class OutdatedError extends Error {}

/** Throws if the result may not be used. Undefined: there is no such collection. */
type Check = (row: Row | undefined) => void | Promise<void>;

function snapshotOf(
  store: SearchStore,
  collection: Collection,
  shown: VisibleCommit,
  uses: FieldUses,
  statements: Pick<Snapshot, 'tx' | 'lookUp'>,
): Snapshot {
  const { sqlSchema } = collection;
  const key = keyFilterFor(store, shown.schema.fields);
  return {
    ...shown,
    ...statements,
    store,
    clock: { now: new Date(), timeZone: 'UTC' },
    sqlSchema,
    key,
    modules: store.modules,
    uses,
    expansions: new Map(),
    conditions: new Map(),
  };
}

/** Reads from a standby that is current enough, or from the primary. */
async function readWithFreshness<T>(
  store: SearchStore,
  collection: Collection,
  freshness: Freshness | undefined,
  read: (engine: Engine, check: Check) => Promise<T>,
): Promise<T> {
  try {
    const found = freshness && (await store.standbys.read(collection, freshness, read));
    if (found !== undefined) return found.value;
    const value = await read(store.engine, (row) => requireCommit(row, freshness?.atLeast));
    // Bulk work pauses for searches of its own server.
    if (!freshness?.isBackground) store.throttle.recordSearch();
    return value;
  } catch (error) {
    if (!wasCancelled(error)) throw error;
    throw new AkinError(
      'unavailable',
      `The search took longer than ${store.searchMilliseconds / 1000} seconds and was stopped. Simplify it: fewer clauses, no wildcard at the beginning of a word, or timeAllowed for a result that may be partial.`,
      { cause: error, retryAfterSeconds: 30 },
    );
  }
}

/** After a failover the primary may lack a commit that a standby showed. @throws AkinError unavailable */
function requireCommit(row: Row | undefined, atLeast: bigint | undefined): void {
  if (row === undefined || atLeast === undefined || row.commit >= atLeast) return;
  throw new AkinError(
    'unavailable',
    'The database has not caught up with the changes of the token in after: try again.',
    {
      retryAfterSeconds: 1,
    },
  );
}

interface SnapshotRow {
  readonly name: string;
  readonly commit: bigint;
  readonly fingerprint: string;
  readonly documents: bigint;
  readonly schema_version: number;
  readonly descriptor_counts: string;
}

/** Candidates that include all documents within a distance. */
export interface NearDocuments {
  readonly docs: readonly bigint[];
  /** Number of descriptors that were compared to find them. */
  readonly compared: number;
}
