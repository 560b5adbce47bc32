/** Tells who waits for operations of a collection, in this process, that some changed their state. */
export class OperationEvents {
  readonly #waiting = new Map<number, Set<() => void>>();

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

  tell(collectionId: number): void {
    for (const done of [...(this.#waiting.get(collectionId) ?? [])]) done();
  }
}
