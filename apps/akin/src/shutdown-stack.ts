import { type Log, unlessAborted, withTimeout } from '@akin/runtime';

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

  /** Each part may use the remaining time, except what the later ones need. Those that fail prevent no later ones. */
  async [Symbol.asyncDispose](): Promise<void> {
    const deadline = performance.now() + this.closeMilliseconds;
    const parts = this.#opened.splice(0).reverse();
    let reserved = parts.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    for (const { name, part, milliseconds } of parts) {
      const from = performance.now();
      reserved -= milliseconds;
      try {
        await withTimeout(Math.max(0, Math.round(deadline - reserved - from)), closed(part));
        this.#log.info({ phase: name, milliseconds: Math.round(performance.now() - from) }, 'shutdown phase done');
      } catch (err) {
        this.#log.error({ phase: name, err }, 'shutdown phase failed');
      }
    }
  }
}

async function closed(part: AsyncDisposable): Promise<void> {
  await part[Symbol.asyncDispose]();
}
