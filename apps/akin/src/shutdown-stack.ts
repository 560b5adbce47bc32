import { type Log, shutDown, unlessAborted } from '@akin/runtime';

/** Time limit for all parts together: a process ends within five seconds. */
const CLOSE_MILLISECONDS = 4_500;
/** The minimum time for each part, however long the parts before it take. */
const MIN_MILLISECONDS = 400;

/** The parts of a process. They close in the reverse order of opening, all with one deadline. */
export class ShutdownStack implements AsyncDisposable {
  readonly #opened: { name: string; part: AsyncDisposable; milliseconds: number }[] = [];
  readonly #log: Log;
  readonly #signal: AbortSignal | undefined;

  /** @param signal aborts when the process must end: then no more parts are opened */
  constructor(log: Log, signal?: AbortSignal) {
    this.#log = log;
    this.#signal = signal;
  }

  get closeMilliseconds(): number {
    const delays = this.#opened.map(({ milliseconds }) => milliseconds - MIN_MILLISECONDS);
    return delays.reduce((sum, delay) => sum + delay, CLOSE_MILLISECONDS);
  }

  /**
   * @param delayMilliseconds how long the part waits before it closes; it extends the deadline
   * @throws the reason of the signal if the process must end; the part is closed with the others
   */
  use<Part extends AsyncDisposable>(name: string, part: Part, delayMilliseconds = 0): Part {
    this.#opened.push({ name, part, milliseconds: delayMilliseconds + MIN_MILLISECONDS });
    this.#signal?.throwIfAborted();
    return part;
  }

  /** Waits for something that is being opened, until the process must end. @throws the reason of the signal */
  unlessStopped<Value>(opening: Promise<Value>): Promise<Value> {
    return unlessAborted(opening, this.#signal);
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
