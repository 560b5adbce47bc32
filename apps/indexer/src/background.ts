import type { Log } from '@akin/runtime';

/** Work that is done again and again. */
export interface Background extends AsyncDisposable {
  /** Does it now, or once more when it is being done. */
  wake(): void;
}

/**
 * Does some work every so many milliseconds, never twice at a time, and earlier when woken. What it throws is logged;
 * the next turn comes all the same. Disposing waits for the turn at work.
 */
export function inBackground(
  name: string,
  milliseconds: number,
  work: () => Promise<unknown>,
  log: Pick<Log, 'error'>,
): Background {
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  function wake(): void {
    if (stopped) return;
    again = true;
    turn ??= run();
  }

  async function run(): Promise<void> {
    clearTimeout(timer);
    while (again && !stopped) {
      again = false;
      try {
        await work();
      } catch (err) {
        log.error({ err, work: name }, 'background work failed; it is tried again');
      }
    }
    turn = undefined;
    if (!stopped) timer = setTimeout(wake, milliseconds);
  }

  timer = setTimeout(wake, milliseconds);
  return {
    wake,
    async [Symbol.asyncDispose]() {
      stopped = true;
      clearTimeout(timer);
      await turn;
    },
  };
}
