import { AkinError, type Query } from '@akin/domain';
import { loadSchema } from '../collections/schema.ts';
import { hasServers } from '../collections/shard-servers.ts';
import type { Collection, ShownCommit, Store } from '../context.ts';
import type { Engine, Queryable, Row, SqlValue, Transaction } from '../engine/engine.ts';
import { wasCancelled } from '../engine/sqlstate.ts';
import type { CollectionPart } from '../searcher/read-rows.ts';
import { type Freshness, STANDING } from '../standbys/standbys.ts';
import type { SearchedTables } from './columns.ts';
import { FieldUses, recordUses } from './field-uses.ts';

/** What a commit shows, for the statements of one answer. */
export interface Snapshot extends SearchedTables {
  /** What the collection is called now: another one may have taken its name. */
  readonly name: string;
  readonly tx: Transaction;
  /** Whether some of its rows lie on other servers: rows are not looked up there one by one. */
  readonly isRemote: boolean;
  /** For a statement that finds few documents by their keys, whatever its values are: it may be planned once. */
  readonly lookUp: Queryable['query'];
  /** For a statement that tells what the database would do, which holds for any commit. */
  readonly explain: Queryable['query'];
  readonly commit: bigint;
  /** When it was made, as the database writes it; null where there is none. */
  readonly committedAt: string | null;
  /** How many documents the commit shows. */
  readonly documents: bigint;
  /** How many of them have the descriptor of each module. */
  readonly descriptorCounts: ReadonlyMap<string, number>;
  readonly uses: FieldUses;
  readonly expansions: Map<Query, readonly string[]>;
  /** Among these are all that are near enough to match a ranking's greatest distance; undefined: it may be any. */
  readonly near?: NearDocuments | undefined;
  /** Given, only this shard is looked at. */
  readonly part?: CollectionPart | undefined;
  /** Documents that match and are left out, because another one stands for them. */
  readonly folded?: readonly bigint[] | undefined;
}

/**
 * Runs the statements of one answer on one commit: its number is read first, and rows are visible by it (see
 * {@link visible}). All statements run in one read-only database snapshot too, so that rows which a later commit
 * replaced cannot be removed meanwhile, however long the answer takes.
 *
 * @param freshness what a standby must have for the answer to come from there; undefined: it comes from the primary.
 *   `answer` may be called a second time, where the standby broke off.
 * @throws AkinError unavailable when a statement runs too long, or the primary has not the commit that is needed
 */
export async function withSnapshot<T>(
  store: Store,
  collection: Collection,
  answer: (snapshot: Snapshot) => Promise<T>,
  freshness?: Freshness,
): Promise<T> {
  const uses = new FieldUses();
  let shown: ShownCommit | undefined;
  const read = (engine: Engine, check: Check) =>
    engine.transaction(
      async (tx, [first]) => {
        const row = first as SnapshotRow | undefined;
        await check(first);
        if (row === undefined) {
          throw new AkinError('not-found', `The collection ${collection.name} does not exist any more.`);
        }
        const schema = await loadSchema(store, collection, row.schema_version, tx);
        const descriptorCounts = new Map<string, number>(Object.entries(JSON.parse(row.descriptor_counts)));
        const { name, commit, committed_at: committedAt, documents, mark } = row;
        shown = { name, commit, committedAt, documents, mark, schema, descriptorCounts };
        store.memory.shown.set(collection.id, shown);
        return answer(snapshotOf(store, collection, shown, uses, { tx, lookUp: tx.query, explain: tx.query }));
      },
      {
        snapshot: true,
        timeoutMilliseconds: store.searchMilliseconds,
        first: `select ${STANDING}, name, documents, schema_version,
                (select coalesce(json_object_agg(module, documents), '{}')
                   from ${collection.sqlSchema}.descriptor_counts)::text as descriptor_counts
           from akin.collections where id = ${Number(collection.id)}`,
      },
    );
  const value = await readFreshly(store, collection, freshness, read);
  await recordUses(store, collection, shown?.documents ?? 0n, uses);
  return value;
}

/**
 * Runs the few statements of one answer without a transaction around them, on the commit that this process saw last.
 * Each statement is a snapshot of its own, and tells what the collection shows: where that is still the same, all of
 * them are of the one commit.
 *
 * @param freshness as for {@link withSnapshot}
 * @returns undefined where the collection shows something else by now, or was not seen yet: {@link withSnapshot} is to
 *   be used then
 * @throws AkinError as {@link withSnapshot} does
 */
export async function withoutTransaction<T>(
  store: Store,
  collection: Collection,
  answer: (snapshot: Snapshot) => Promise<T>,
  freshness?: Freshness,
): Promise<T | undefined> {
  const shown = store.memory.shown.get(collection.id);
  if (shown === undefined || shown.commit < (freshness?.atLeast ?? 0n)) return undefined;
  const uses = new FieldUses();
  const read = async (engine: Engine, check: Check) => {
    let isChecked = false;
    const ask = async <R extends Row>(
      sql: string,
      params: readonly SqlValue[] = [],
      prepared = false,
    ): Promise<R[]> => {
      const rows = await engine.read<R>(
        // A join of one row without a condition is a loop over the rows of the statement, which stay in their order.
        `select s.*, r.* from (select ${STANDING} from akin.collections where id = ${Number(collection.id)}) s
           left join (select true as there, r.* from (${sql}) r) r on true`,
        params,
        { timeoutMilliseconds: store.searchMilliseconds, prepared },
      );
      const [first] = rows;
      await check(first);
      if (first?.mark !== shown.mark) throw new Outdated();
      isChecked = true;
      return first?.there === null ? [] : rows;
    };
    const tx: Transaction = {
      query: (sql, params) => ask(sql, params),
      copy: () => Promise.reject(new Outdated()),
    };
    const isLarge = shown.documents >= PREPARED_FROM;
    try {
      const lookUp: Queryable['query'] = (sql, params) => ask(sql, params, isLarge);
      const explain: Queryable['query'] = (sql, params) =>
        engine.read(sql, params ?? [], { timeoutMilliseconds: store.searchMilliseconds, prepared: false });
      const value = await answer(snapshotOf(store, collection, shown, uses, { tx, lookUp, explain }));
      // What commits have counted is not asked for.
      if (!isChecked) await ask('select 1 as one');
      return value;
    } catch (error) {
      // What is wrong with the question may be so of the fields that this process knows alone.
      if (error instanceof Outdated || (error instanceof AkinError && error.code !== 'unavailable')) return undefined;
      throw error;
    }
  };
  const value = await readFreshly(store, collection, freshness, read);
  if (value === undefined) store.memory.shown.delete(collection.id);
  else await recordUses(store, collection, shown.documents, uses);
  return value;
}

/** Documents from which on tables are so large that one of them is always found by an index. */
export const PREPARED_FROM = 5_000;

/** What was expected of the collection is not so any more. */
class Outdated extends Error {}

/** Throws where what was read may not be believed; undefined: there is no such collection. */
type Check = (row: Row | undefined) => void | Promise<void>;

function snapshotOf(
  { modules }: Store,
  collection: Collection,
  shown: ShownCommit,
  uses: FieldUses,
  statements: Pick<Snapshot, 'tx' | 'lookUp' | 'explain'>,
): Snapshot {
  const { sqlSchema } = collection;
  const isRemote = hasServers(collection);
  return { ...shown, ...statements, sqlSchema, isRemote, modules, uses, expansions: new Map() };
}

/**
 * How new a standby must be for a search. With shards on other servers it must show the current commit: what later
 * commits have replaced is removed from those servers, also where a standby that is behind still shows it.
 *
 * @param atLeast the commit that must be seen, if a token was given
 */
export function freshnessFor(
  collection: Collection,
  atLeast: bigint | undefined,
  isCurrent = atLeast === undefined,
): Freshness {
  return { atLeast, isCurrent: isCurrent || hasServers(collection) };
}

/** Reads from a standby that is fresh enough, or from the primary. */
async function readFreshly<T>(
  store: Store,
  collection: Collection,
  freshness: Freshness | undefined,
  read: (engine: Engine, check: Check) => Promise<T>,
): Promise<T> {
  try {
    const found = freshness && (await store.standbys.read(collection, freshness, read));
    if (found !== undefined) return found.value;
    const from = performance.now();
    const value = await read(store.engine, (row) => requireCommit(row, freshness?.atLeast));
    // Bulk work rests for searches of its own server.
    store.throttle.searched(performance.now() - from);
    return value;
  } catch (error) {
    if (!wasCancelled(error)) throw error;
    throw new AkinError(
      'unavailable',
      `The search took longer than ${store.searchMilliseconds / 1000} seconds and was stopped. Ask for less: fewer clauses, no wildcard at the beginning of a word, or timeAllowed for an answer that may be cut.`,
      { cause: error, retryAfterSeconds: 30 },
    );
  }
}

/**
 * After a failover the primary may lack a commit that a standby showed.
 * @throws AkinError unavailable
 */
export function requireCommit(row: Row | undefined, atLeast: bigint | undefined): void {
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
  readonly committed_at: string | null;
  readonly mark: string;
  readonly documents: bigint;
  readonly schema_version: number;
  readonly descriptor_counts: string;
}

/** SQL that is true of the rows `d` of `documents` that a commit shows; `commit` is its number as SQL. */
export function visible(commit: string): string {
  return `d.valid_from <= ${commit} and d.valid_to > ${commit}`;
}

/**
 * SQL of the rows `d` of documents, to be joined to rows of which each has its number as `doc`. Rows on other servers
 * are asked for by all numbers at once: a join would ask for each by itself, or read all that there are.
 *
 * @param docs an array of the numbers of all those rows, as SQL
 * @param doc the number of one of them, as SQL
 */
export function documentsOf({ sqlSchema, isRemote }: Snapshot, docs: string, doc: string): string {
  const documents = `${sqlSchema}.documents d`;
  if (!isRemote) return `${documents} on d.doc = ${doc}`;
  return `(select * from ${documents} where d.doc = any(${docs}) offset 0) d on d.doc = ${doc}`;
}

/** Documents among which all within a distance are. */
export interface NearDocuments {
  readonly docs: readonly bigint[];
  /** How many descriptors were compared to find them. */
  readonly compared: number;
}
