/** The runs of this process whose failed files can be retried, as long as it serves. */
export class RetryableRuns {
  readonly #retries = new Map<string, () => Promise<unknown>>();
  readonly #underway = new Set<Promise<unknown>>();

  /** @param retry repeats the run, and offers itself again if something fails */
  offer(id: string, retry: () => Promise<unknown>): void {
    this.#retries.set(id, retry);
  }

  /** @returns false if there is no such run, or it is being retried */
  start(id: string): boolean {
    const retry = this.#retries.get(id);
    if (retry === undefined) return false;
    this.#retries.delete(id);
    const work = retry()
      .catch(() => this.offer(id, retry))
      .finally(() => this.#underway.delete(work));
    this.#underway.add(work);
    return true;
  }

  async waitForRetries(): Promise<void> {
    await Promise.all(this.#underway);
  }
}
