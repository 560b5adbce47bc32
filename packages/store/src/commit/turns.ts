/**
 * Maximum number of commits, and shards of commits, that a process applies at a time: each has one connection that
 * applies and one that reads.
 */
export const MAX_APPLIED = 4;

/** A place; its holder may let others go first between two pieces of its work. */
export interface Turn {
  /** Whether other work waits for a place. */
  readonly isWanted: boolean;
  /** Gives the place to waiting work, and waits for the next one. */
  yieldTurn(): Promise<void>;
  end(): void;
}

/**
 * Runs a limited amount of work in parallel, and the rest in turns: work that gives up its place between two pieces
 * lets all others go first. Every second time, new work goes before work that already had a turn. So small work ends
 * soon, however much large work there is, and large work makes progress however much small work comes.
 */
export class Turns {
  readonly #places: () => number;
  readonly #first: (() => void)[] = [];
  readonly #again: (() => void)[] = [];
  #busy = 0;
  #wasFirst = false;

  /** @param places maximum number at a time; may change */
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
      async yieldTurn() {
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
