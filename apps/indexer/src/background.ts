import { apartFromSpans, type Log } from '@akin/runtime';

/** Work that is done again and again. */
export interface Background extends AsyncDisposable {
  /** Does it now, or once more when it is being done. */
  wake(): void;
}

/** Work that fails in the same way again is not told of again for so long. */
const REPEAT_MILLISECONDS = 30_000;

/**
 * Does some work every so many milliseconds, never twice at a time, and earlier when woken. What it throws is logged;
 * the next turn comes all the same. Disposing waits for the turn at work.
 */
export function inBackground(
  name: string,
  milliseconds: number,
  work: () => Promise<unknown>,
  log: Pick<Log, 'warn' | 'error'>,
): Background {
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let told: { readonly message: string; readonly at: number } | undefined;

  function wake(): void {
    if (stopped) return;
    again = true;
    turn ??= apartFromSpans(run);
  }

  async function run(): Promise<void> {
    clearTimeout(timer);
    while (again && !stopped) {
      again = false;
      try {
        await work();
        if (told) log.warn({ work: name }, 'background work goes on');
        told = undefined;
      } catch (err) {
        tell(err as Error);
      }
    }
    turn = undefined;
    if (!stopped) timer = setTimeout(wake, milliseconds);
  }

  function tell(err: Error & { code?: string }): void {
    if (told?.message === err.message && Date.now() - told.at < REPEAT_MILLISECONDS) return;
    told = { message: err.message, at: Date.now() };
    if (err.code === 'unavailable') log.warn({ work: name, reason: err.message }, 'background work waits');
    else log.error({ err, work: name }, 'background work failed; it is tried again');
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
