import { AkinError } from '@akin/domain';
import { failedOperations, type Operation, waitForOperations } from '../../changes/accept/operations.ts';
import type { Store } from '../../changes/context.ts';
import { collectionStatus } from '../../database/collections/collections.ts';
import { currentCommit } from '../../database/collections/current-commit.ts';
import { defineFields } from '../../database/collections/define-fields.ts';
import { movePin, type Pin, pinCommit, removePin } from '../../database/collections/pins.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import type { Collection } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { sqlStateOf } from '../../database/engine/sqlstate.ts';
import { definedFields, type ExportedDocument } from '../../search/export/export-documents.ts';
import { changesBetween, differencesFrom, documentsOf } from './changes.ts';
import { acceptsPending, type CopyResult, copyDocuments, type Reanalyze } from './copy.ts';
import {
  abandonTarget,
  FIRST_COPY,
  MAX_LISTED,
  type MissingDocument,
  releaseReindex,
  requireOwnReindex,
  saveProgress,
} from './state.ts';
import { holdChanges, swapCollections } from './swap-collections.ts';

export interface ReindexWork {
  /** The values given to `beginReindex` or `resumeReindex`. */
  readonly holder: string;
  readonly commit: (name: string) => Promise<unknown>;
  /** Called when pictures wait for analysis. */
  readonly wake: () => void;
  /** Swaps even if documents are missing, or were copied without outputs. */
  readonly allowMissing: boolean;
  /** The collection with outputs by id for documents whose own outputs are invalid. */
  readonly outputsFrom?: Collection | undefined;
  /** Analyzes pictures without a URL. Without it, such documents cannot be copied to other models. */
  readonly reanalyze?: Reanalyze | undefined;
  readonly signal: AbortSignal;
}

/** After a round with at most this many changes, new changes are blocked and the rest is copied, … */
const FEW_CHANGES = 200;
/** … unless the round took longer than this, because pictures had to be analyzed. */
const SHORT_MILLISECONDS = 1_000;
const COPY_BATCH_SIZE = 200;
const MAX_ROUNDS = 20;
const HEARTBEAT_MILLISECONDS = 5_000;
const MAX_SWAPS = 15;
/** Errors of a picture at a URL. Its thumbnail may be used instead. */
const NO_PICTURE: ReadonlySet<string> = new Set([
  'image-unreachable',
  'image-undecodable',
  'unsupported-image',
  'too-large',
]);
const LOCKED = ['55P03', '40P01'];

/**
 * Copies a collection into its replacement, then the changes since, in rounds until few are left. Then it blocks
 * changes for the moment in which the rest is copied and the names are swapped. Until then the old collection serves.
 * If the reindex fails, the old collection continues to serve, and the new one is removed. Documents that the new one
 * already has, because another process ended or was paused, are not copied again.
 *
 * @throws the error of the reindex, which is also recorded; the reason of `work.signal` if that aborts, or the error of
 * an outage: then the next process continues, or this one later. Returns without an error if the reindex was paused, or
 * another process runs it now.
 */
export async function runReindex(
  store: Store,
  collection: Collection,
  target: Collection,
  work: ReindexWork,
): Promise<void> {
  const left = new AbortController();
  const signal = AbortSignal.any([work.signal, left.signal]);
  const run = new ReindexRun(store, collection, target, { ...work, signal });
  const heartbeat = setInterval(() => {
    run.heartbeat().catch((error) => {
      if (error instanceof AkinError && error.code === 'conflict') left.abort(error);
    });
  }, HEARTBEAT_MILLISECONDS);
  try {
    await run.copyAll();
    await run.waitForPictures();
    await run.replaceOld();
    await run.saveProgress({ state: 'done' });
  } catch (error) {
    // The next process continues. After the swap, it only records that the reindex is done.
    const isTemporary = error instanceof AkinError && error.code === 'unavailable';
    if (work.signal.aborted || isTemporary || run.isSwapped) {
      await releaseReindex(store, collection, work.holder).catch(() => undefined);
      throw error;
    }
    const message = error instanceof AkinError ? error.message : 'It broke off; the log says why.';
    // After a pause, or if another process took over, nothing belongs to this process.
    const isOwn = await run.saveProgress({ state: 'failed', message }).then(
      () => true,
      () => false,
    );
    if (!isOwn) return;
    await abandonTarget(store, collection, target);
    throw error;
  } finally {
    clearInterval(heartbeat);
    await run.close();
  }
}

class ReindexRun {
  readonly #store: Store;
  readonly #old: Collection;
  readonly #target: Collection;
  readonly #work: ReindexWork;
  readonly #missing: MissingDocument[] = [];
  #missed = 0;
  readonly #counts = { copied: 0, analyzed: 0, thumbnails: 0 };
  #isSwapped = false;
  /** Keeps the commit of the old collection that the target was filled up to. */
  #pin: Pin | undefined;
  #first: number | undefined;
  #last = 0;

  constructor(store: Store, old: Collection, target: Collection, work: ReindexWork) {
    this.#store = store;
    this.#old = old;
    this.#target = target;
    this.#work = work;
  }

  get isSwapped(): boolean {
    return this.#isSwapped;
  }

  saveProgress(change: Parameters<typeof saveProgress>[3]): Promise<void> {
    return saveProgress(this.#store, this.#old, this.#work.holder, change);
  }

  /** Every transaction that writes into the target calls this: another process may own it, or it may serve searches. */
  readonly #requireOwn = (tx: Queryable): Promise<void> =>
    requireOwnReindex(tx, this.#old, this.#target, this.#work.holder);

  /** Renews the claim of this process, and the pin of the rows that it reads. */
  async heartbeat(): Promise<void> {
    await this.saveProgress({});
    if (this.#pin) await movePin(this.#store, this.#pin, this.#pin.commit);
  }

  async close(): Promise<void> {
    if (this.#pin) await removePin(this.#store, this.#pin);
  }

  async copyAll(): Promise<void> {
    const { documents } = await collectionStatus(this.#store, this.#old);
    await this.#finishEarlierWork(documents);
    this.#pin = await pinCommit(this.#store, this.#old);
    const { commit } = this.#pin;
    for await (const { documents, deleted } of differencesFrom(this.#store, this.#old, this.#target, commit)) {
      this.#work.signal.throwIfAborted();
      await this.#copy(documents, deleted);
      this.#pin = await movePin(this.#store, this.#pin, commit);
    }
    await this.#work.commit(this.#target.name);
  }

  /** Finishes the work that an earlier process left pending in the target, and counts it. */
  async #finishEarlierWork(documents: number): Promise<void> {
    this.#work.wake();
    const [row] = await this.#store.engine.query<{ next: bigint; analyzed: bigint; thumbnails: bigint }>(
      `select c.next_seq as next, r.analyzed, r.thumbnails from akin.collections c, akin.reindexes r
        where c.id = $1 and r.name = $2`,
      [this.#target.id, this.#old.name],
    );
    await this.saveProgress({ documents });
    const last = Number(row?.next ?? FIRST_COPY) - 1;
    if (last < FIRST_COPY) return;
    this.#counts.analyzed = Number(row?.analyzed);
    this.#counts.thumbnails = Number(row?.thumbnails);
    const { signal } = this.#work;
    const range = { first: FIRST_COPY, last };
    await this.saveProgress({ state: 'analyzing' });
    await waitForOperations(this.#store, this.#target, range, { signal });
    await this.#work.commit(this.#target.name);
    await waitForOperations(this.#store, this.#target, range, { until: 'visible', signal });
    const { documents: copied } = await collectionStatus(this.#store, this.#target);
    this.#counts.copied = copied;
    await this.saveProgress({ state: 'copying', copied });
  }

  async waitForPictures(): Promise<void> {
    if (this.#counts.analyzed > 0) await this.saveProgress({ state: 'analyzing' });
    await this.#waitUntilVisible();
    this.#requireAll();
  }

  async replaceOld(): Promise<void> {
    await this.saveProgress({ state: 'switching' });
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const began = performance.now();
      const count = await this.#catchUp();
      if (count <= FEW_CHANGES && performance.now() - began < SHORT_MILLISECONDS) break;
      this.#work.signal.throwIfAborted();
    }
    for (let attempt = 0; attempt < MAX_SWAPS; attempt++) {
      await holdChanges(this.#store, this.#old);
      await this.#work.commit(this.#old.name);
      await this.#catchUp();
      // Changes that wait for their analysis move too, with fields that no copied document has.
      await this.#defineMissingFields();
      this.#requireAll();
      await this.#requireCount();
      this.#isSwapped = await this.#trySwap();
      if (this.#isSwapped) return;
    }
    throw new AkinError(
      'conflict',
      `${this.#old.name} changes too fast for the swap: try again when there are fewer changes.`,
    );
  }

  async #trySwap(): Promise<boolean> {
    const { commit } = this.#pin as Pin;
    try {
      const takes = acceptsPending(this.#store, await loadSchema(this.#store, this.#target));
      return await swapCollections(this.#store, this.#old, this.#target, commit, takes, this.#requireOwn);
    } catch (error) {
      if (LOCKED.includes(sqlStateOf(error) ?? '')) return false;
      throw error;
    }
  }

  /** Copies the changes since the pinned commit. @returns their number */
  async #catchUp(): Promise<number> {
    const pin = this.#pin as Pin;
    const to = await currentCommit(this.#store.engine, this.#old);
    let count = 0;
    if (to > pin.commit) {
      for await (const { documents, deleted } of changesBetween(this.#store, this.#old, pin.commit, to)) {
        count += documents.length + deleted.length;
        await this.#copy(documents, deleted);
      }
    }
    if (count > 0) await this.#work.commit(this.#target.name);
    await this.#waitUntilVisible();
    this.#pin = await movePin(this.#store, pin, to);
    return count;
  }

  async #copy(
    documents: readonly ExportedDocument[],
    deleted: readonly string[],
    unreachable = false,
  ): Promise<CopyResult> {
    await this.#defineMissingFields(documents);
    const options = { ...this.#work, unreachable, guard: this.#requireOwn };
    const copied = await copyDocuments(this.#store, this.#target, documents, deleted, options);
    if (copied.count > 0) {
      this.#first ??= copied.first;
      this.#last = copied.last;
    }
    this.#counts.thumbnails += copied.thumbnails;
    // Pictures that could not be fetched are counted already.
    if (!unreachable) {
      this.#counts.copied += documents.length;
      this.#counts.analyzed += copied.analyzed;
      for (const one of copied.missing) this.#recordMissing(one);
    }
    if (copied.analyzed > 0) this.#work.wake();
    await this.saveProgress(this.#counts);
    return copied;
  }

  /** Defines fields that were added after the start, if one of the documents has such a field. */
  async #defineMissingFields(documents?: readonly ExportedDocument[]): Promise<void> {
    const { fields: known } = await loadSchema(this.#store, this.#target);
    if (documents?.every(({ fields }) => [...fields.keys()].every((name) => known.has(name)))) return;
    const missing = [...(await definedFields(this.#store, this.#old))].filter(([name]) => !known.has(name));
    if (missing.length > 0) await defineFields(this.#store, this.#target, new Map(missing));
  }

  /** Waits until all copied documents are visible, or failed. */
  async #waitUntilVisible(): Promise<void> {
    for await (const failed of this.#commitCopied()) {
      const saved = await this.#fromThumbnails(failed);
      this.#recordFailed(failed.filter(({ id }) => id === null || !saved.has(id)));
    }
    for await (const failed of this.#commitCopied()) this.#recordFailed(failed);
  }

  async *#commitCopied(): AsyncGenerator<Operation[]> {
    if (this.#first === undefined) return;
    const { signal } = this.#work;
    const range = { first: this.#first, last: this.#last };
    await waitForOperations(this.#store, this.#target, range, { signal });
    await this.#work.commit(this.#target.name);
    await waitForOperations(this.#store, this.#target, range, { until: 'visible', signal });
    // Copies that are made between two pages belong to the next range.
    this.#first = undefined;
    yield* failedOperations(this.#store, this.#target, range);
  }

  #recordFailed(failed: readonly Operation[]): void {
    for (const { id, error } of failed) {
      this.#recordMissing({ id: id ?? '', code: error?.code ?? 'internal', msg: error?.msg ?? 'It failed.' });
    }
  }

  /**
   * Pictures that cannot be fetched may exist as thumbnails. @returns the ids of documents that were copied with one,
   * and of deleted documents
   */
  async #fromThumbnails(failed: readonly Operation[]): Promise<Set<string>> {
    const ids = failed.flatMap(({ id, error }) => (id !== null && NO_PICTURE.has(error?.code ?? '') ? [id] : []));
    const saved = new Set<string>();
    if (this.#work.reanalyze === undefined) return saved;
    for (let i = 0; i < ids.length; i += COPY_BATCH_SIZE) {
      const some = ids.slice(i, i + COPY_BATCH_SIZE);
      const { missing } = await this.#copy(await documentsOf(this.#store, this.#old, some), [], true);
      for (const id of some) if (!missing.some((one) => one.id === id)) saved.add(id);
    }
    return saved;
  }

  /** Prevents the loss of documents by a defect: without missing documents, both collections have equally many. */
  async #requireCount(): Promise<void> {
    if (this.#missed > 0) return;
    const old = await collectionStatus(this.#store, this.#old);
    const target = await collectionStatus(this.#store, this.#target);
    // After a newer commit, the swap does not happen now.
    if (BigInt(old.commit) !== this.#pin?.commit || target.documents >= old.documents) return;
    const lost = old.documents - target.documents;
    throw new AkinError('internal', `${lost} of ${old.documents} documents were not copied. This is a defect of akin.`);
  }

  #recordMissing(one: MissingDocument): void {
    this.#missed++;
    if (this.#missing.length < MAX_LISTED) this.#missing.push(one);
  }

  #requireAll(): void {
    if (this.#missed === 0) return;
    void this.saveProgress({ missing: this.#missing }).catch(() => {});
    if (this.#work.allowMissing) return;
    throw new AkinError(
      'image-unreachable',
      `${this.#missed} document${this.#missed === 1 ? '' : 's'} cannot be copied: correct them, or continue without them (allowMissing=true, --allow-missing).`,
    );
  }
}
