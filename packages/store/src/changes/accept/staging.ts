import { AkinError, type ErrorDetail, type FieldType } from '@akin/domain';
import { addFields } from '../../database/collections/fields.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import { goneError, requireNoSwap, SWAP, type Swap } from '../../database/collections/swap.ts';
import type { Collection, CollectionSchema } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { sqlStateOf } from '../../database/engine/sqlstate.ts';
import { statements } from '../../database/statements.ts';
import type { Store } from '../context.ts';
import { planDelete } from './check-delete.ts';
import { requireInside } from './inside.ts';
import { requireQuota, USAGE, type Usage } from './quota.ts';
import { removeRequest } from './requests.ts';
import { StagedBatch } from './staged-batch.ts';
import { type Change, rowOf, sizeOf, typeMismatchIn } from './staged-rows.ts';
import { requireVersions } from './versions.ts';

/** Sequence numbers of an accepted request, inclusive; none if `count` is 0. */
export interface AcceptedRange {
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/** Statements on PGlite's only connection stay below 50 ms. On PostgreSQL a few large ones cost less than many. */
const BATCH_BYTES = { pglite: 256 * 1024, postgres: 1024 * 1024 };
const BATCH_ROWS = 250;
const LOCK_MILLISECONDS = 250;
const LOCK_ATTEMPTS = 60;
const LOCK_NOT_AVAILABLE = '55P03';
const MAX_DETAILS = 100;

/** The origin of a request. Later work for it is logged and traced with these ids. */
export interface RequestOrigin {
  /** `requestId` of its log lines. */
  readonly requestId?: string | undefined;
  /** The `traceparent` of the span that its analyses are part of. */
  readonly traceparent?: string | undefined;
}

interface StagingOptions extends RequestOrigin {
  /** False: its deletes leave no tombstones. */
  readonly tombstones?: boolean;
  /** Runs inside the transaction that accepts: if it rejects, nothing is accepted. */
  readonly guard?: (tx: Queryable) => Promise<void>;
  /** Gets each write of a batch, and runs it when allowed. If it throws, nothing is written. */
  readonly onWrite?: (write: () => Promise<void>) => Promise<void>;
}

/**
 * The changes of one request while they arrive. Nothing is written before the first batch, and none of them counts
 * before `accept` resolves.
 */
export class Staging {
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #options: StagingOptions;
  /** Undefined before the first batch. */
  #request: bigint | undefined;
  /** The type of the values of each field, as staged. */
  readonly #types = new Map<string, FieldType>();
  /** Changes that are not written yet. Undefined if there are none. */
  #batch: StagedBatch | undefined;
  #count = 0;
  #adds = 0;
  #bytes = 0;
  #expects = false;
  #state: 'open' | 'accepted' | 'discarded' = 'open';

  constructor(store: Store, collection: Collection, options: StagingOptions = {}) {
    this.#store = store;
    this.#collection = collection;
    this.#options = options;
  }

  /**
   * Adds changes, and writes each full batch. If each call is awaited, at most one batch is in memory.
   *
   * @throws AkinError bad-request for a delete by query that the database cannot run; forbidden for one by a key whose
   * filter does not fit the fields; unavailable if the disk of the embedded database is too full, or the database
   * cannot be reached
   */
  async add(changes: readonly Change[]): Promise<void> {
    if (this.#state !== 'open') throw new Error(`the request is ${this.#state}`);
    const most = BATCH_BYTES[this.#store.engine.kind];
    for (const one of changes) {
      const change = one.kind === 'delete-by-query' ? { ...one, query: await this.#planDelete(one.query) } : one;
      const row = rowOf(change, this.#types);
      this.#expects ||= row.expected !== null;
      const size = sizeOf(row);
      const { count = 0, bytes = 0 } = this.#batch ?? {};
      if (count === BATCH_ROWS || bytes + size > most) await this.flush();
      this.#batch ??= await this.#newBatch();
      this.#batch.add(row, size, this.#count + this.#batch.count);
    }
  }

  async #planDelete(query: string): Promise<string> {
    const schema = await loadSchema(this.#store, this.#collection);
    return planDelete({ store: this.#store, collection: this.#collection, schema }, query, this.#types);
  }

  /** Writes the changes of an incomplete batch. */
  async flush(): Promise<void> {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    const { onWrite = (write) => write() } = this.#options;
    await onWrite(() => this.#write(batch));
  }

  /**
   * Writes the rest, and accepts all changes at once: they are durable and ordered when this resolves. Defines new
   * fields.
   *
   * @throws AkinError bad-request, with a detail for each document, if another client has given a new field a type that
   * a value does not fit; conflict, with a detail for each document that does not have the expected version, or that its
   * key may not change; quota-exceeded; not-found if the collection was dropped; unavailable while a reindex replaces it,
   * or if the request took too long. Nothing is accepted then, and the caller discards it.
   */
  async accept(): Promise<AcceptedRange> {
    await this.flush();
    return statements('UPDATE requests', this.#collection, () => this.#accept());
  }

  async #accept(): Promise<AcceptedRange> {
    for (let attempt = 1; ; attempt++) {
      try {
        const outcome = await this.#tryAccept();
        if ('first' in outcome) {
          this.#state = 'accepted';
          this.#store.events.notify(this.#collection.id);
          return outcome;
        }
        await this.#recheck(outcome);
      } catch (error) {
        // A long search blocks new columns, and all later searches would wait behind this: give up, and try again.
        if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE || attempt === LOCK_ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 100));
      }
    }
  }

  /** Removes what was written. Does nothing after `accept` has resolved. */
  async discard(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'discarded';
    if (this.#request !== undefined) await removeRequest(this.#store, this.#collection, this.#request);
  }

  async #begin(): Promise<bigint> {
    const { requestId = null, traceparent = null, tombstones = true } = this.#options;
    const [row] = await this.#store.engine.query<{ request: bigint }>(
      `insert into ${this.#collection.sqlSchema}.requests (request_id, traceparent, leaves_tombstones)
       values ($1, $2, $3) returning request`,
      [requestId, traceparent, tombstones],
    );
    if (row === undefined) throw new Error('insert returned no row');
    return row.request;
  }

  async #newBatch(): Promise<StagedBatch> {
    // A commit checks the models again.
    const schema = await loadSchema(this.#store, this.#collection, 0);
    return new StagedBatch(this.#store, this.#collection, schema);
  }

  async #write(batch: StagedBatch): Promise<void> {
    await this.#store.engine.disk?.requireSpace('changes');
    this.#request ??= await this.#begin();
    await batch.write(this.#request);
    this.#count += batch.count;
    this.#adds += batch.adds;
    this.#bytes += batch.bytes;
  }

  /** @returns the schema with types that some staged values do not have, if any */
  async #tryAccept(): Promise<AcceptedRange | CollectionSchema> {
    const { id, sqlSchema: S } = this.#collection;
    return this.#store.engine.transaction(
      async (tx) => {
        const [row] = await tx.query<Usage & Swap & { schema_version: number }>(
          `select schema_version, ${USAGE}, ${SWAP} from akin.collections where id = $1 for update`,
          [id],
        );
        if (row === undefined) throw goneError(this.#collection);
        requireNoSwap(row);
        await this.#options.guard?.(tx);
        const schema = await loadSchema(this.#store, this.#collection, row.schema_version, tx);
        if (this.#typeMismatches(schema).length > 0) return schema;
        const first = Number(row.next_seq);
        if (this.#request === undefined) return { first, last: first - 1, count: 0 };
        const added = [...this.#types].filter(([name]) => !schema.fields.has(name));
        await addFields(tx, this.#collection, new Map(added));
        const [store, collection, request, nextSeq] = [this.#store, this.#collection, this.#request, row.next_seq];
        const acceptance = { tx, store, collection, schema, request, nextSeq };
        await requireInside(acceptance);
        if (this.#expects) await requireVersions(acceptance);
        const brought = { request, adds: this.#adds, bytes: this.#bytes };
        await requireQuota(tx, this.#collection, row, brought);
        const accepted = await tx.query(
          `update ${S}.requests set first_seq = $2, count = $3, bytes_before = $4, accepted_at = now()
            where request = $1 and first_seq is null and not finished returning request`,
          [this.#request, row.next_seq, this.#count, row.accepted_bytes],
        );
        if (accepted.length === 0)
          throw new AkinError('unavailable', 'The request was abandoned because it took too long. Send it again.');
        await tx.query(
          'update akin.collections set next_seq = next_seq + $2, accepted_bytes = accepted_bytes + $3 where id = $1',
          [id, this.#count, this.#bytes],
        );
        return { first, last: first + this.#count - 1, count: this.#count };
      },
      { lockTimeoutMilliseconds: LOCK_MILLISECONDS },
    );
  }

  /** Fields whose values were staged with another type than the schema has now. */
  #typeMismatches(schema: CollectionSchema): string[] {
    return [...this.#types]
      .filter(([name, type]) => (schema.fields.get(name)?.type ?? type) !== type)
      .map(([name]) => name);
  }

  /**
   * Checks all staged documents against the newer types, one batch at a time and outside of any lock. They are stored
   * as they were sent, so those that fit need no change.
   */
  async #recheck(newer: CollectionSchema): Promise<void> {
    const S = this.#collection.sqlSchema;
    const misfits = this.#typeMismatches(newer);
    const details: ErrorDetail[] = [];
    for (let from = 0; from < this.#count; from += BATCH_ROWS) {
      const rows = await this.#store.engine.query<{ position: number; id: string; document: string }>(
        `select position, id, document from ${S}.operations
          where request = $1 and position >= $2 and position < $2 + ${BATCH_ROWS} and kind = 'add' order by position`,
        [this.#request ?? null, from],
        'bulk',
      );
      for (const { position, id, document } of rows) {
        const problem = typeMismatchIn(document, misfits, newer);
        if (problem === undefined || details.length === MAX_DETAILS) continue;
        const msg = `Document ${JSON.stringify(id)} at position ${position}: ${problem}, the type that another client has just given it.`;
        details.push({ position, id, code: 'bad-request', msg });
      }
    }
    for (const name of misfits) this.#types.set(name, newer.fields.get(name)?.type ?? 'string');
    const [first] = details;
    if (first === undefined) return;
    throw new AkinError('bad-request', first.msg, { details });
  }
}
