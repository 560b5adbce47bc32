/** The runs of this process whose failed files can be retried, as long as it serves. */
export class RetryableRuns {
  readonly #retries = new Map<string, () => Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();

  /** @param retry repeats the run, and offers itself again if something fails */
  offer(id: string, retry: () => Promise<unknown>): void {
    this.#retries.set(id, retry);
  }

  /** @returns false if there is no such run, or it is being retried */
  start(id: string): boolean {
    const retry = this.#retries.get(id);
    if (retry === undefined) return false;
    this.#retries.delete(id);
    this.inTurn(retry).catch(() => this.offer(id, retry));
    return true;
  }

  /** Starts a run after those before. Two at a time would both index what is new to them. */
  inTurn(run: () => Promise<unknown>): Promise<unknown> {
    const ended = this.#last.then(run);
    this.#last = ended.catch(() => {});
    return ended;
  }

  /** Resolves when all runs that were started have ended, whatever started them. */
  async ended(): Promise<void> {
    await this.#last;
  }
}
