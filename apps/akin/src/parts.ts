import { type Log, shutDown } from '@akin/runtime';

/** What one part may take to end its work: an open request may wait for the analysis of its pictures. */
const CLOSE_MILLISECONDS = 20_000;

/** The parts of a process, which end in the reverse of the order in which they were opened, each within its time. */
export class Parts implements AsyncDisposable {
  readonly #opened: { name: string; part: AsyncDisposable }[] = [];
  readonly #log: Log;
  readonly #signal: AbortSignal | undefined;

  /** @param signal that the process is to end: then no more parts are opened */
  constructor(log: Log, signal?: AbortSignal) {
    this.#log = log;
    this.#signal = signal;
  }

  /** @throws the reason of the signal when no more parts are needed; this one is closed with the others */
  keep<Part extends AsyncDisposable>(name: string, part: Part): Part {
    this.#opened.push({ name, part });
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
    const phases = this.#opened
      .splice(0)
      .reverse()
      .map(({ name, part }) => ({
        name,
        milliseconds: CLOSE_MILLISECONDS,
        work: async () => part[Symbol.asyncDispose](),
      }));
    await shutDown(this.#log, phases);
  }
}
