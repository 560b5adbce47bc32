/** Commits, and shards of commits, that a process applies at a time: each has one connection that applies and one that reads. */
export const MOST_APPLIED = 4;

/** A place that was got; its holder may let others go first between two pieces of its work. */
export interface Turn {
  /** Whether somebody waits for a place. */
  readonly isWanted: boolean;
  /** Gives the place to who waits, and waits for the next one. */
  pass(): Promise<void>;
  end(): void;
}

/**
 * Lets so much work be done side by side, and the rest in turns: work that passes its place on between two pieces lets
 * all others get ahead. What only came goes before what had a turn, every other time: something small ends soon, however
 * much large work is about, and that gets on however much comes.
 */
export class Turns {
  readonly #places: () => number;
  readonly #first: (() => void)[] = [];
  readonly #again: (() => void)[] = [];
  #busy = 0;
  #wasFirst = false;

  /** @param places how many at a time; may change */
  constructor(places: () => number) {
    this.#places = places;
  }

  async begin(): Promise<Turn> {
    await this.#wait(this.#first);
    return this.#turn();
  }

  /** A place that is free now, if there is one. */
  tryBegin(): Turn | undefined {
    if (this.#busy >= this.#places()) return undefined;
    this.#busy++;
    return this.#turn();
  }

  #turn(): Turn {
    const turns = this;
    return {
      get isWanted() {
        return turns.#first.length + turns.#again.length > 0 || turns.#busy > turns.#places();
      },
      async pass() {
        turns.#busy--;
        await turns.#wait(turns.#again);
      },
      end() {
        turns.#busy--;
        turns.#next();
      },
    };
  }

  #wait(queue: (() => void)[]): Promise<void> {
    return new Promise((resolve) => {
      queue.push(resolve);
      this.#next();
    });
  }

  #next(): void {
    while (this.#busy < this.#places()) {
      const takesFirst = this.#again.length === 0 || (this.#first.length > 0 && !this.#wasFirst);
      const start = (takesFirst ? this.#first : this.#again).shift();
      if (start === undefined) return;
      this.#wasFirst = takesFirst;
      this.#busy++;
      start();
    }
  }
}
