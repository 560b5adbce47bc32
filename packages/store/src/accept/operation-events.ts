/** Events within this number of milliseconds are sent to other processes in one message. */
const TOGETHER_MILLISECONDS = 25;

/** Notifies listeners of events in a collection: accepted, analyzed, committed. */
export class OperationEvents {
  readonly #waiting = new Map<number, Set<() => void>>();
  readonly #listeners = new Set<(collectionId: number) => void>();
  readonly #untold = new Set<number>();
  readonly #send: ((collectionId: number) => Promise<unknown>) | undefined;

  /** @param send notifies the other processes, if there are any; their notifications arrive at `hear` */
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

  tell(collectionId: number): void {
    this.hear(collectionId);
    if (this.#send === undefined || this.#untold.has(collectionId)) return;
    this.#untold.add(collectionId);
    setTimeout(() => {
      this.#untold.delete(collectionId);
      // A caller that misses the event polls a moment later anyway.
      this.#send?.(collectionId).catch(() => {});
    }, TOGETHER_MILLISECONDS).unref();
  }

  /** Passes events on only within this process. */
  hear(collectionId: number): void {
    for (const done of [...(this.#waiting.get(collectionId) ?? [])]) done();
    for (const listener of this.#listeners) listener(collectionId);
  }
}
