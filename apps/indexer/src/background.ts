import { setTimeout as delay } from 'node:timers/promises';
import { causeFields, type Log, withoutSpan } from '@akin/runtime';

export interface Background extends AsyncDisposable {
  /** Runs it now, or once more if it is running. */
  wake(): void;
}

/** Work that fails repeatedly in the same way is not logged again for this time. */
const REPEAT_MILLISECONDS = 30_000;

/**
 * Repeats some work at an interval, never twice at a time, and earlier if woken. Errors are logged, and the next run
 * happens anyway. Disposing waits for the current run.
 *
 * @param apart minimum milliseconds from the end of a run to the next one, for work that is woken by many small events
 * and can process them together. After a longer pause it starts at once.
 */
export function inBackground(
  name: string,
  milliseconds: number,
  work: () => Promise<unknown>,
  log: Pick<Log, 'warn' | 'error'>,
  apart = 0,
): Background {
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  let again = false;
  let ended = Number.NEGATIVE_INFINITY;
  const stop = new AbortController();
  let lastFailure: { readonly message: string; readonly at: number } | undefined;

  function wake(): void {
    if (stop.signal.aborted) return;
    again = true;
    turn ??= withoutSpan(run);
  }

  async function run(): Promise<void> {
    clearTimeout(timer);
    while (again && !stop.signal.aborted) {
      const rest = ended + apart - performance.now();
      if (rest > 0) {
        await delay(rest, undefined, { signal: stop.signal }).catch(() => {});
        if (stop.signal.aborted) break;
      }
      again = false;
      try {
        await work();
        if (lastFailure) log.warn({ work: name }, 'background work continues');
        lastFailure = undefined;
      } catch (err) {
        logFailure(err as Error);
      }
      ended = performance.now();
    }
    turn = undefined;
    if (!stop.signal.aborted) timer = setTimeout(wake, milliseconds);
  }

  function logFailure(err: Error & { code?: string }): void {
    if (lastFailure?.message === err.message && Date.now() - lastFailure.at < REPEAT_MILLISECONDS) return;
    lastFailure = { message: err.message, at: Date.now() };
    if (err.code === 'unavailable') {
      log.warn({ work: name, reason: err.message, ...causeFields(err) }, 'background work waits');
    } else log.error({ err, work: name }, 'background work failed and will be retried');
  }

  timer = setTimeout(wake, milliseconds);
  return {
    wake,
    async [Symbol.asyncDispose]() {
      stop.abort();
      clearTimeout(timer);
      await turn;
    },
  };
}
