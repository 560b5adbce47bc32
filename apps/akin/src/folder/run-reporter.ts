import { randomUUID } from 'node:crypto';
import type { Collection, RunState } from '@akin/client';
import type { Progress } from './progress.ts';

const REPORT_MILLISECONDS = 1_000;
/** A run that is not reported for a minute counts as stopped. */
const SILENT_MILLISECONDS = 15_000;
const MAX_FAILURES = 1_000;
const LONGEST_MESSAGE = 1_000;
/** The code of what was named and is not there. */
const ABSENT = 'absent';

/**
 * Reports the progress of a run to akin, so that the page shows it. Nothing depends on it: an akin that refuses reports
 * gets none.
 */
export class RunReporter {
  readonly id: string;
  readonly #collection: Collection;
  readonly #source: string;
  readonly #progress: Progress;
  readonly #timer: NodeJS.Timeout;
  #sending: Promise<void> = Promise.resolve();
  #reported = '';
  #reportedAt = 0;
  #reportedFailures = 0;
  #isBusy = false;

  /** @param id that of the run that this one repeats */
  constructor(collection: Collection, source: string, progress: Progress, id: string = randomUUID()) {
    this.id = id;
    this.#collection = collection;
    this.#source = source.slice(0, 4_096);
    this.#progress = progress;
    this.#timer = setInterval(() => this.#tick(), REPORT_MILLISECONDS);
    this.#timer.unref();
    this.#tick();
  }

  async finish(state: RunState): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    await this.#send(state);
  }

  #tick(): void {
    const now = JSON.stringify(this.#progress.counts);
    const due = now !== this.#reported || performance.now() - this.#reportedAt > SILENT_MILLISECONDS;
    if (this.#isBusy || !due) return;
    this.#reported = now;
    this.#sending = this.#send('running');
  }

  async #send(state: RunState): Promise<void> {
    if (this.#progress.isQuiet) return;
    this.#isBusy = true;
    this.#reportedAt = performance.now();
    const { counts, secondsLeft } = this.#progress;
    const failures = [
      ...[...this.#progress.absent].map((file) => ({ file, code: ABSENT, reason: 'it is not there' })),
      ...this.#progress.failures,
    ];
    // More files may fail during this report.
    const failureCount = failures.length;
    const isNew = failureCount > this.#reportedFailures;
    try {
      await this.#collection.reportRun(this.id, {
        source: this.#source,
        state,
        total: counts.found,
        done: counts.done,
        unchanged: counts.unchanged + counts.moved + counts.skipped,
        failed: failureCount,
        ...(state === 'running' && secondsLeft !== undefined ? { secondsLeft: Math.ceil(secondsLeft) } : {}),
        ...(isNew
          ? {
              failures: failures.slice(0, MAX_FAILURES).map(({ file, code, reason }) => ({
                path: file.slice(0, 4_096),
                code,
                msg: reason.slice(0, LONGEST_MESSAGE),
              })),
            }
          : {}),
      });
      this.#reportedFailures = failureCount;
    } catch {
      // The run continues, and the command reports its result.
    } finally {
      this.#isBusy = false;
    }
  }
}

/**
 * Takes from the reports of earlier runs what a later one has settled. A run of which nothing is left is dismissed.
 *
 * @param later id of the later run
 * @param isSettled whether what was not there at a path is there, or the file that failed was tried again or is gone
 */
export async function settleFailures(
  collection: Collection,
  later: string,
  isSettled: (file: string) => boolean,
): Promise<void> {
  const { runs } = await collection.runs();
  for (const { id, source, state, total, done, unchanged, failed, failures } of runs) {
    const rest = failures.filter(({ path }) => !isSettled(path));
    const settled = failures.length - rest.length;
    if (id === later || state === 'running' || settled === 0) continue;
    if (rest.length === 0) await collection.dismissRun(id);
    else {
      const counts = { total, done, unchanged, failed: failed - settled };
      await collection.reportRun(id, { source, state, ...counts, failures: rest });
    }
  }
}
