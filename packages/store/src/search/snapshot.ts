import { AkinError, type Query } from '@akin/domain';
import { loadSchema } from '../collections/schema.ts';
import type { Collection, Store } from '../context.ts';
import type { Engine, Row, Transaction } from '../engine/engine.ts';
import { wasCancelled } from '../engine/sqlstate.ts';
import { type Freshness, STANDING } from '../standbys/standbys.ts';
import type { SearchedTables } from './columns.ts';
import { FieldUses, recordUses } from './field-uses.ts';

/** What a commit shows, for the statements of one answer. */
export interface Snapshot extends SearchedTables {
  /** What the collection is called now: another one may have taken its name. */
  readonly name: string;
  readonly tx: Transaction;
  readonly commit: bigint;
  /** How many documents the commit shows. */
  readonly documents: bigint;
  /** How many of them have the descriptor of each module. */
  readonly descriptorCounts: ReadonlyMap<string, number>;
  readonly uses: FieldUses;
  readonly expansions: Map<Query, readonly string[]>;
  /** Among these are all that are near enough to match a ranking's greatest distance; undefined: it may be any. */
  readonly near?: NearDocuments | undefined;
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
  const { sqlSchema } = collection;
  const uses = new FieldUses();
  let documents = 0n;
  const read = (engine: Engine, check: (row: Row | undefined) => void | Promise<void>, standing?: string) =>
    engine.transaction(
      async (tx, [first]) => {
        const row = first as SnapshotRow | undefined;
        await check(first);
        if (row === undefined) {
          throw new AkinError('not-found', `The collection ${collection.name} does not exist any more.`);
        }
        const schema = await loadSchema(store, collection, row.schema_version, tx);
        documents = row.documents;
        const descriptorCounts = new Map<string, number>(Object.entries(JSON.parse(row.descriptor_counts)));
        const { modules } = store;
        const expansions = new Map<Query, readonly string[]>();
        return answer({
          tx,
          name: row.name,
          commit: row.commit,
          documents,
          descriptorCounts,
          sqlSchema,
          schema,
          modules,
          uses,
          expansions,
        });
      },
      {
        snapshot: true,
        timeoutMilliseconds: store.searchMilliseconds,
        first: `select ${standing ?? 'commit'}, name, documents, schema_version,
                (select coalesce(json_object_agg(module, documents), '{}')
                   from ${sqlSchema}.descriptor_counts)::text as descriptor_counts
           from akin.collections where id = ${Number(collection.id)}`,
      },
    );
  const fromPrimary = async () => {
    const from = performance.now();
    const value = await read(store.engine, (row) => requireCommit(row, freshness?.atLeast));
    // Bulk work rests for searches of its own server.
    store.throttle.searched(performance.now() - from);
    return { value };
  };
  const fromStandby =
    freshness && store.standbys.read(collection.id, freshness, (engine, require) => read(engine, require, STANDING));
  const answered = (async () => (await fromStandby) ?? fromPrimary())().catch((error: unknown) => {
    if (!wasCancelled(error)) throw error;
    throw new AkinError(
      'unavailable',
      `The search took longer than ${store.searchMilliseconds / 1000} seconds and was stopped. Ask for less: fewer clauses, no wildcard at the beginning of a word, or timeAllowed for an answer that may be cut.`,
      { cause: error, retryAfterSeconds: 30 },
    );
  });
  const { value } = await answered;
  await recordUses(store, collection, documents, uses);
  return value;
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
  readonly documents: bigint;
  readonly schema_version: number;
  readonly descriptor_counts: string;
}

/** SQL that is true of the rows `d` of `documents` that a commit shows; `commit` is its number as SQL. */
export function visible(commit: string): string {
  return `d.valid_from <= ${commit} and d.valid_to > ${commit}`;
}

/** Documents among which all within a distance are. */
export interface NearDocuments {
  readonly docs: readonly bigint[];
  /** How many descriptors were compared to find them. */
  readonly compared: number;
}
