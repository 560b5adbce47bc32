import { AkinError } from '@akin/domain';
import { waitForOperations } from '../accept/operations.ts';
import { collectionStatus } from '../collections/collections.ts';
import type { Collection, Store } from '../context.ts';
import { sqlStateOf } from '../engine/sqlstate.ts';
import { exportDocuments } from '../export/export-documents.ts';
import { movePin, type Pin, pinCommit, removePin } from '../export/pins.ts';
import { changesBetween, currentCommit } from './changes.ts';
import { type Copied, copyDocuments } from './copy.ts';
import { abandonTarget, type MissingDocument, MOST_LISTED, tellReindex } from './state.ts';
import { holdChanges, switchCollections } from './switch.ts';

export interface ReindexWork {
  /** As given to `beginReindex`. */
  readonly worker: string;
  /** Publishes what is ready in a collection. */
  readonly commit: (name: string) => Promise<unknown>;
  /** Called when there are pictures to analyze. */
  readonly wake: () => void;
  /** Takes the place even though documents are missing, or came without what their picture shows. */
  readonly allowMissing: boolean;
  /** Where documents find outputs by their ids when their own do not hold any more. */
  readonly outputsFrom?: Collection | undefined;
  readonly signal: AbortSignal;
}

const PAGE_DOCUMENTS = 500;
const PAGE_BYTES = 4 * 1024 ** 2;
/** So few changes are copied while new ones are held up. */
const FEW_CHANGES = 200;
const MOST_ROUNDS = 20;
const BEAT_MILLISECONDS = 5_000;
const MOST_SWITCHES = 15;
const LOCKED = ['55P03', '40P01'];

/**
 * Copies a collection into the one that is to take its place, then what changed meanwhile, round by round until little
 * is left, then holds changes up for the moment in which the rest is copied and the names are exchanged. Until then the
 * old one serves; when something goes wrong, it goes on to, and the new one goes.
 *
 * @throws what went wrong, which is written down too
 */
export async function runReindex(
  store: Store,
  collection: Collection,
  target: Collection,
  work: ReindexWork,
): Promise<void> {
  const run = new ReindexRun(store, collection, target, work);
  const beat = setInterval(() => void run.tell({}).catch(() => {}), BEAT_MILLISECONDS);
  try {
    await run.copyAll();
    await run.waitForPictures();
    await run.takePlace();
    await run.tell({ state: 'done' });
  } catch (error) {
    const message = error instanceof AkinError ? error.message : 'It broke off; the log says why.';
    await abandonTarget(store, collection, target);
    await run.tell({ state: 'failed', message }).catch(() => {});
    throw error;
  } finally {
    clearInterval(beat);
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
  #copied = 0;
  #analyzed = 0;
  /** What the target has so far: this commit of the old one. */
  #pin: Pin | undefined;
  #first: number | undefined;
  #last = 0;

  constructor(store: Store, old: Collection, target: Collection, work: ReindexWork) {
    this.#store = store;
    this.#old = old;
    this.#target = target;
    this.#work = work;
  }

  tell(change: Parameters<typeof tellReindex>[3]): Promise<void> {
    return tellReindex(this.#store, this.#old, this.#work.worker, change);
  }

  async close(): Promise<void> {
    if (this.#pin) await removePin(this.#store, this.#pin);
  }

  async copyAll(): Promise<void> {
    const { documents } = await collectionStatus(this.#store, this.#old);
    await this.tell({ documents });
    this.#pin = await pinCommit(this.#store, this.#old);
    const request = { query: { kind: 'all' } as const, filters: [], rows: PAGE_DOCUMENTS, bytes: PAGE_BYTES };
    let cursor: string | undefined;
    do {
      this.#work.signal.throwIfAborted();
      const page = await exportDocuments(this.#store, this.#old, { ...request, cursor });
      await this.#copy(page.documents, []);
      this.#pin = await movePin(this.#store, this.#pin, this.#pin.commit);
      cursor = page.next;
    } while (cursor !== undefined);
    await this.#work.commit(this.#target.name);
  }

  async waitForPictures(): Promise<void> {
    if (this.#analyzed > 0) await this.tell({ state: 'analyzing' });
    await this.#settle();
    this.#requireAll();
  }

  async takePlace(): Promise<void> {
    await this.tell({ state: 'switching' });
    for (let round = 0; round < MOST_ROUNDS && (await this.#catchUp()) > FEW_CHANGES; round++) {
      this.#work.signal.throwIfAborted();
    }
    for (let attempt = 0; attempt < MOST_SWITCHES; attempt++) {
      await holdChanges(this.#store, this.#old);
      await this.#work.commit(this.#old.name);
      await this.#catchUp();
      this.#requireAll();
      if (await this.#trySwitch()) return;
    }
    throw new AkinError(
      'unavailable',
      `${this.#old.name} changes so much that nothing could take its place: try again when there is less to do.`,
    );
  }

  async #trySwitch(): Promise<boolean> {
    try {
      return await switchCollections(this.#store, this.#old, this.#target, this.#pin?.commit ?? 0n);
    } catch (error) {
      if (LOCKED.includes(sqlStateOf(error) ?? '')) return false;
      throw error;
    }
  }

  /** Copies what changed since. @returns how much that was */
  async #catchUp(): Promise<number> {
    const pin = this.#pin as Pin;
    const to = await currentCommit(this.#store, this.#old);
    let count = 0;
    if (to > pin.commit) {
      for await (const { documents, deleted } of changesBetween(this.#store, this.#old, pin.commit, to)) {
        count += documents.length + deleted.length;
        await this.#copy(documents, deleted);
      }
    }
    if (count > 0) await this.#work.commit(this.#target.name);
    await this.#settle();
    this.#pin = await movePin(this.#store, pin, to);
    return count;
  }

  async #copy(documents: Parameters<typeof copyDocuments>[2], deleted: readonly string[]): Promise<void> {
    const copied: Copied = await copyDocuments(this.#store, this.#target, documents, deleted, this.#work);
    if (copied.count > 0) {
      this.#first ??= copied.first;
      this.#last = copied.last;
    }
    this.#copied += documents.length;
    this.#analyzed += copied.analyzed;
    if (copied.analyzed > 0) this.#work.wake();
    for (const one of copied.missing) this.#miss(one);
    await this.tell({ copied: this.#copied, analyzed: this.#analyzed });
  }

  /** Waits until all that was copied can be seen, or failed. */
  async #settle(): Promise<void> {
    if (this.#first === undefined) return;
    const { signal } = this.#work;
    const range = { first: this.#first, last: this.#last };
    const analyzed = await waitForOperations(this.#store, this.#target, range, { signal });
    if (analyzed.length > 0 || this.#analyzed > 0) await this.#work.commit(this.#target.name);
    const failed = await waitForOperations(this.#store, this.#target, range, { until: 'visible', signal });
    this.#first = undefined;
    for (const { id, error } of failed) {
      this.#miss({ id: id ?? '', code: error?.code ?? 'internal', msg: error?.msg ?? 'It failed.' });
    }
  }

  #miss(one: MissingDocument): void {
    this.#missed++;
    if (this.#missing.length < MOST_LISTED) this.#missing.push(one);
  }

  #requireAll(): void {
    if (this.#missed === 0) return;
    void this.tell({ missing: this.#missing }).catch(() => {});
    if (this.#work.allowMissing) return;
    throw new AkinError(
      'image-unreachable',
      `${this.#missed} document${this.#missed === 1 ? '' : 's'} cannot come along: mend them, or go on without (allowMissing=true, --allow-missing).`,
    );
  }
}
