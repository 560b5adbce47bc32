import { pauseClient } from '@akin/testing';

/** The results of the requests of a load. */
export interface LoadResult {
  readonly answered: number;
  /** Failed requests, as a status or an error. */
  readonly failures: readonly string[];
}

const CLIENTS = 6;

/**
 * Sends requests from several clients, each one after the other and none twice, until it is stopped.
 *
 * @param send sends the request of a number and resolves with its status
 */
export class SteadyLoad {
  readonly #send: (number: number) => Promise<number>;
  readonly #clients: Promise<void>[];
  readonly #failures: string[] = [];
  #sent = 0;
  #answered = 0;
  #stopped = false;

  constructor(send: (number: number) => Promise<number>) {
    this.#send = send;
    this.#clients = Array.from({ length: CLIENTS }, () => this.#run());
  }

  get answered(): number {
    return this.#answered;
  }

  async stop(): Promise<LoadResult> {
    this.#stopped = true;
    await Promise.all(this.#clients);
    return { answered: this.#answered, failures: this.#failures };
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const number = this.#sent++;
      try {
        const status = await this.#send(number);
        if (status < 300) this.#answered++;
        else this.#failures.push(`request ${number}: ${status}`);
      } catch (error) {
        const { message, cause } = error as Error;
        this.#failures.push(`request ${number}: ${message} ${(cause as Error | undefined)?.message ?? ''}`);
      }
      await pauseClient();
    }
  }
}
