/** The runs of this process whose failed files can be tried again, for as long as it serves. */
export class RetryableRuns {
  readonly #retries = new Map<string, () => Promise<unknown>>();
  readonly #underway = new Set<Promise<unknown>>();

  /** @param retry does the run again; it offers itself again if something fails */
  offer(id: string, retry: () => Promise<unknown>): void {
    this.#retries.set(id, retry);
  }

  /** @returns false if there is no such run, or it is being tried again */
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

  /** Resolves when nothing is being tried again. */
  async settled(): Promise<void> {
    await Promise.all(this.#underway);
  }
}
