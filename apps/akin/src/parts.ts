import { type Log, shutDown } from '@akin/runtime';

/** What one part may take to end its work: an open request may wait for the analysis of its pictures. */
const CLOSE_MILLISECONDS = 20_000;

/** The parts of a process, which end in the reverse of the order in which they were opened, each within its time. */
export class Parts implements AsyncDisposable {
  readonly #opened: { name: string; part: AsyncDisposable }[] = [];
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  keep<Part extends AsyncDisposable>(name: string, part: Part): Part {
    this.#opened.push({ name, part });
    return part;
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
