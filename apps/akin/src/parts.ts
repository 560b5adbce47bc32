import { type Log, shutDown } from '@akin/runtime';

/** What all parts may take together: a process is gone within five seconds. */
const CLOSE_MILLISECONDS = 4_500;
/** What of that is kept for each part, however long those before it take. */
const LEAST_MILLISECONDS = 400;

/** The parts of a process, which end in the reverse of the order in which they were opened, all by one deadline. */
export class Parts implements AsyncDisposable {
  readonly #opened: { name: string; part: AsyncDisposable; milliseconds: number }[] = [];
  readonly #log: Log;
  readonly #signal: AbortSignal | undefined;

  /** @param signal that the process is to end: then no more parts are opened */
  constructor(log: Log, signal?: AbortSignal) {
    this.#log = log;
    this.#signal = signal;
  }

  /** How long they take to close at most. */
  get closeMilliseconds(): number {
    const delays = this.#opened.map(({ milliseconds }) => milliseconds - LEAST_MILLISECONDS);
    return delays.reduce((sum, delay) => sum + delay, CLOSE_MILLISECONDS);
  }

  /**
   * @param delayMilliseconds what the part waits before it closes: the deadline is so much later
   * @throws the reason of the signal when no more parts are needed; this one is closed with the others
   */
  keep<Part extends AsyncDisposable>(name: string, part: Part, delayMilliseconds = 0): Part {
    this.#opened.push({ name, part, milliseconds: delayMilliseconds + LEAST_MILLISECONDS });
    this.#signal?.throwIfAborted();
    return part;
  }

  /** Waits for what is being opened, but not any longer once the process is to end. @throws the reason of the signal */
  async unlessStopped<Value>(opening: Promise<Value>): Promise<Value> {
    const signal = this.#signal;
    if (signal === undefined) return opening;
    let stop = () => {};
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
    try {
      return await Promise.race([opening, stopped]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { closeMilliseconds } = this;
    const phases = this.#opened
      .splice(0)
      .reverse()
      .map(({ name, part, milliseconds }) => ({
        name,
        milliseconds,
        work: async () => part[Symbol.asyncDispose](),
      }));
    await shutDown(this.#log, phases, closeMilliseconds);
  }
}
