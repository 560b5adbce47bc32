/** A terminal's Ctrl-C reaches a program twice under npm, which passes on what the terminal has sent already. */
const SAME_SIGNAL_MILLISECONDS = 500;

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 };

/**
 * Resolves at the first SIGINT or SIGTERM. From then on a second one ends the process at once, whatever its shutdown
 * is waiting for.
 */
export async function untilSignal(): Promise<keyof typeof EXIT_CODES> {
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
