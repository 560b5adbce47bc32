import { listOperations, type Operation, type Store } from '@akin/store/changes';
import { type Collection, findCollection } from '@akin/store/database';
import { presentCollection } from '../collections/present.ts';

/** Number of changes that are read at once. */
const PAGE = 500;
/** Poll interval if no notifications come from other processes. */
const POLL_MILLISECONDS = 2_000;
/** Notifications come in bursts while a collection is filled. */
const MIN_POLL_INTERVAL_MILLISECONDS = 200;
const STATUS_MILLISECONDS = 1_000;
const TERMINAL_STATES: readonly string[] = ['visible', 'failed', 'superseded'];

/** The changes of one collection for all listeners: one query serves all of them. */
export class Feed {
  readonly #store: Store;
  readonly #name: string;
  readonly #signal: AbortSignal;
  #listeners = 0;
  #isRunning = false;
  #pollNumber = 0;
  #waiting: (() => void)[] = [];
  #pages = new Map<number, Promise<readonly Operation[]>>();
  #failure: { readonly error: unknown } | undefined;
  #collection: Collection | undefined;
  #status = '';
  #statusAt = 0;

  /** @param signal ends the feed */
  constructor(store: Store, name: string, signal: AbortSignal) {
    this.#store = store;
    this.#name = name;
    this.#signal = signal;
  }

  get isUsed(): boolean {
    return this.#listeners > 0;
  }

  /** Listens until the returned function is called. */
  listen(): () => void {
    this.#listeners++;
    if (!this.#isRunning) void this.#run();
    return () => {
      this.#listeners--;
      this.#wake();
    };
  }

  /** The state of the collection as JSON, as of the last poll. */
  get status(): string {
    return this.#status;
  }

  /**
   * Finished changes after a given number, up to the first one that is not finished. Listeners that ask for the same
   * between two polls share the result.
   */
  terminal(after: number): Promise<readonly Operation[]> {
    const known = this.#pages.get(after);
    if (known) return known;
    const page = this.#read(after);
    this.#pages.set(after, page);
    return page;
  }

  get pollNumber(): number {
    return this.#pollNumber;
  }

  /** Resolves after a poll later than `pollNumber`, or when either signal aborts. @throws the error that ended polling */
  async next(pollNumber: number, signal: AbortSignal): Promise<void> {
    if (pollNumber === this.#pollNumber && !signal.aborted && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = () => {
          // A stream may last for days, with many polls.
          signal.removeEventListener('abort', done);
          resolve();
        };
        signal.addEventListener('abort', done, { once: true });
        this.#waiting.push(done);
      });
    }
    if (this.#failure) throw this.#failure.error;
  }

  async #read(after: number): Promise<readonly Operation[]> {
    const collection = this.#collection ?? (await findCollection(this.#store, this.#name));
    const { operations } = await listOperations(this.#store, collection, { after, limit: PAGE });
    const open = operations.findIndex(({ state }) => !TERMINAL_STATES.includes(state));
    return open < 0 ? operations : operations.slice(0, open);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    this.#failure = undefined;
    try {
      while (this.#listeners > 0 && !this.#signal.aborted) {
        // The name is resolved each time, because a reindex may have replaced the collection.
        const collection = await findCollection(this.#store, this.#name);
        this.#collection = collection;
        const news = this.#store.events.changed(collection.id, POLL_MILLISECONDS, this.#signal);
        this.#pages.clear();
        if (performance.now() - this.#statusAt > STATUS_MILLISECONDS) {
          this.#status = JSON.stringify(await presentCollection(this.#store, collection));
          this.#statusAt = performance.now();
        }
        this.#pollNumber++;
        this.#wake();
        await news;
        await new Promise((resolve) => setTimeout(resolve, MIN_POLL_INTERVAL_MILLISECONDS));
      }
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#isRunning = false;
      this.#pollNumber++;
      this.#wake();
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
