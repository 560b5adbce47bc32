/**
 * Under npm a program gets a Ctrl-C of the terminal twice, because npm passes on what the terminal has already sent.
 */
const SAME_SIGNAL_MILLISECONDS = 500;

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 };

/** The reason of aborts after a signal. */
export class StoppedError extends Error {
  override readonly name = 'AbortError';
  /** The exit code that a shell reports for a process killed by the signal: 128 and the number of the signal. */
  readonly exitCode: number;

  constructor(signal: keyof typeof EXIT_CODES) {
    super(`Stopped by ${signal}.`);
    this.exitCode = EXIT_CODES[signal];
  }
}

/**
 * Resolves at the first SIGINT or SIGTERM. After that, a second one ends the process at once, even during its shutdown.
 */
export async function waitForSignal(): Promise<keyof typeof EXIT_CODES> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = (signal: keyof typeof EXIT_CODES) => {
      if (first === undefined) {
        first = Date.now();
        resolve(signal);
      } else if (Date.now() - first > SAME_SIGNAL_MILLISECONDS) {
        process.exit(EXIT_CODES[signal]);
      }
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  });
}
