/** Events within this number of milliseconds are sent to other processes in one message. */
const COALESCE_MILLISECONDS = 25;

/** Notifies listeners of events in a collection: accepted, analyzed, committed. */
export class OperationEvents {
  readonly #waiting = new Map<number, Set<() => void>>();
  readonly #listeners = new Set<(collectionId: number) => void>();
  readonly #pending = new Set<number>();
  readonly #send: ((collectionId: number) => Promise<unknown>) | undefined;

  /** @param send notifies the other processes, if there are any; their notifications arrive at {@link receive} */
  constructor(send?: (collectionId: number) => Promise<unknown>) {
    this.#send = send;
  }

  /** Resolves at the next change, after `milliseconds`, or when `signal` aborts, whichever is first. */
  async changed(collectionId: number, milliseconds: number, signal?: AbortSignal): Promise<void> {
    const waiting = this.#waiting.get(collectionId) ?? new Set();
    this.#waiting.set(collectionId, waiting);
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      signal?.addEventListener('abort', done);
      waiting.add(done);
    });
  }

  /** Calls a listener for all events from now on. @returns a function that ends it */
  listen(listener: (collectionId: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies the listeners of this process now, and those of other processes a moment later. */
  notify(collectionId: number): void {
    this.receive(collectionId);
    if (this.#send === undefined || this.#pending.has(collectionId)) return;
    this.#pending.add(collectionId);
    setTimeout(() => {
      this.#pending.delete(collectionId);
      // A caller that misses the event polls a moment later anyway.
      this.#send?.(collectionId).catch(() => {});
    }, COALESCE_MILLISECONDS).unref();
  }

  /** Notifies only the listeners of this process. */
  receive(collectionId: number): void {
    for (const done of [...(this.#waiting.get(collectionId) ?? [])]) done();
    for (const listener of this.#listeners) listener(collectionId);
  }
}
