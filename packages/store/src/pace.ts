/** How long a chunk may hold PGlite's only connection, in milliseconds; the aim leaves room for what is slower. */
const AIM = 30;

/**
 * How many rows fit into a chunk of bulk work. Follows what chunks took, because rows differ in size and machines in
 * speed.
 */
export class Pace {
  #rows: number;
  readonly #most: number;

  constructor(first: number, most: number) {
    this.#rows = first;
    this.#most = most;
  }

  get rows(): number {
    return Math.floor(this.#rows);
  }

  /** Runs a chunk of so many rows and learns from the time that it took. */
  async measure<T>(rows: number, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await work();
    this.learn(rows, performance.now() - began);
    return result;
  }

  learn(rows: number, milliseconds: number): void {
    if (rows === 0) return;
    const fitting = (rows * AIM) / Math.max(milliseconds, 0.1);
    // Small chunks say little about large ones: grow slowly, shrink at once.
    const grown = Math.min(fitting, this.#rows * 1.5);
    if (fitting < this.#rows || rows >= this.#rows / 2) this.#rows = Math.min(Math.max(grown, 1), this.#most);
  }
}
