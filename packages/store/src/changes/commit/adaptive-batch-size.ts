/**
 * A chunk may use PGlite's only connection for 50 ms. The target leaves room for slower work, at a tenth of the speed.
 */
const PGLITE_AIM = 20;

/**
 * How many rows fit into a chunk of bulk work. It adapts to the time that chunks took, because rows differ in size and
 * machines in speed.
 */
export class AdaptiveBatchSize {
  #rows: number;
  readonly #max: number;
  readonly #aim: number;
  readonly #min: number;

  /**
   * @param aim milliseconds that a chunk may take
   * @param min minimum rows of a chunk: if chunks have a high fixed cost, a busy machine would otherwise go down to
   * single rows
   */
  constructor(first: number, max: number, aim = PGLITE_AIM, min = 1) {
    this.#rows = first;
    this.#max = max;
    this.#aim = aim;
    this.#min = min;
  }

  get rows(): number {
    return Math.floor(this.#rows);
  }

  async measure<T>(rows: number, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await work();
    this.learn(rows, performance.now() - began);
    return result;
  }

  learn(rows: number, milliseconds: number): void {
    if (rows === 0) return;
    const fitting = (rows * this.#aim) / Math.max(milliseconds, 0.1);
    // Small chunks say little about large ones: grow slowly, shrink at once.
    const grown = Math.min(fitting, this.#rows * 1.5);
    if (fitting < this.#rows || rows >= this.#rows / 2) this.#rows = Math.min(Math.max(grown, this.#min), this.#max);
  }
}
