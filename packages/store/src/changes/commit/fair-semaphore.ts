/**
 * Maximum number of commits, and shards of commits, that a process applies at a time: each has one connection that
 * applies and one that reads.
 */
export const MAX_APPLIED = 4;

/** The right to work. Its holder may let others work between two steps. */
export interface Slot {
  readonly isWanted: boolean;
  /** Gives the slot to waiting work, and waits for another one. */
  yield(): Promise<void>;
  release(): void;
}

/**
 * Limits how much work runs at a time. Work that yields between two steps lets all others go first. New work and work
 * that has yielded before get every second slot each. So small work ends soon, however much large work there is, and
 * large work makes progress however much small work comes.
 */
export class FairSemaphore {
  readonly #limit: () => number;
  readonly #waitingFirst: (() => void)[] = [];
  readonly #waitingAgain: (() => void)[] = [];
  #held = 0;
  #wasFirst = false;

  /** @param limit maximum number of slots; may change */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  async acquire(): Promise<Slot> {
    await this.#wait(this.#waitingFirst);
    return this.#createSlot();
  }

  tryAcquire(): Slot | undefined {
    if (this.#held >= this.#limit()) return undefined;
    this.#held++;
    return this.#createSlot();
  }

  #createSlot(): Slot {
    const semaphore = this;
    return {
      get isWanted() {
        const waiting = semaphore.#waitingFirst.length + semaphore.#waitingAgain.length;
        return waiting > 0 || semaphore.#held > semaphore.#limit();
      },
      async yield() {
        semaphore.#held--;
        await semaphore.#wait(semaphore.#waitingAgain);
      },
      release() {
        semaphore.#held--;
        semaphore.#admit();
      },
    };
  }

  #wait(queue: (() => void)[]): Promise<void> {
    return new Promise((resolve) => {
      queue.push(resolve);
      this.#admit();
    });
  }

  #admit(): void {
    while (this.#held < this.#limit()) {
      const takesFirst = this.#waitingAgain.length === 0 || (this.#waitingFirst.length > 0 && !this.#wasFirst);
      const admit = (takesFirst ? this.#waitingFirst : this.#waitingAgain).shift();
      if (admit === undefined) return;
      this.#wasFirst = takesFirst;
      this.#held++;
      admit();
    }
  }
}
