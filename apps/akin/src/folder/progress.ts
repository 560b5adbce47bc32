import { duration, TerminalLine } from '../terminal-line.ts';

export interface Counts {
  /** Files found so far. Final if `listingComplete`. */
  found: number;
  listingComplete: boolean;
  done: number;
  unchanged: number;
  /** Found at another place, with the same content. */
  moved: number;
  /** Skipped because their documents were deleted on purpose. */
  skipped: number;
  /** Documents that lost their files in this run, and those whose missing files are back. */
  gone: number;
  returned: number;
  failed: number;
}

export interface Failure {
  readonly file: string;
  /** An error code of akin, or `unreadable` if the file could not be read. */
  readonly code: string;
  readonly reason: string;
}

/** The rate is the mean since the start, over the files that were processed. */
export class Progress {
  readonly counts: Counts = {
    found: 0,
    listingComplete: false,
    done: 0,
    unchanged: 0,
    moved: 0,
    skipped: 0,
    gone: 0,
    returned: 0,
    failed: 0,
  };
  readonly failures: Failure[] = [];
  /** Paths that were named, and where nothing is. */
  readonly absent = new Set<string>();
  readonly #onlyWork: boolean;
  readonly #line: TerminalLine;

  /** @param onlyWork say nothing as long as there is nothing to be done */
  constructor(out: NodeJS.WriteStream, onlyWork = false) {
    this.#onlyWork = onlyWork;
    this.#line = new TerminalLine(out, (seconds) => (this.isQuiet ? undefined : progressLine(this.counts, seconds)));
  }

  /** Prints a permanent line above the bar. */
  printLine(line: string): void {
    this.#line.printLine(line);
  }

  fail(failure: Failure): void {
    this.counts.failed++;
    this.failures.push(failure);
  }

  /** Whether nothing is to be said of this run, or not yet. */
  get isQuiet(): boolean {
    const { done, moved, gone, returned, failed } = this.counts;
    return this.#onlyWork && done + moved + gone + returned + failed + this.absent.size === 0;
  }

  /** Undefined while it is unknown. */
  get secondsLeft(): number | undefined {
    return secondsLeft(this.counts, this.#line.seconds);
  }

  finish(): void {
    this.#line.finish();
  }
}

function secondsLeft({ found, listingComplete, done, unchanged, moved, skipped, failed }: Counts, seconds: number) {
  const worked = done + failed;
  const left = found - worked - unchanged - moved - skipped;
  return listingComplete && left > 0 && worked > 0 && seconds > 0 ? (left * seconds) / worked : undefined;
}

/** @param seconds since the start */
export function progressLine(counts: Counts, seconds: number): string {
  const worked = counts.done + counts.failed;
  const finished = worked + counts.unchanged + counts.moved + counts.skipped;
  const rate = seconds > 0 ? worked / seconds : 0;
  const share = counts.found ? finished / counts.found : counts.listingComplete ? 1 : 0;
  const bar = '█'.repeat(Math.round(share * 20)).padEnd(20, '░');
  const left = secondsLeft(counts, seconds);
  return [
    `${bar} ${finished}/${counts.found}${counts.listingComplete ? '' : '+'} pictures`,
    `${rate.toFixed(1)}/s`,
    left === undefined ? '' : `${duration(left)} left`,
    counts.unchanged ? `${counts.unchanged} unchanged` : '',
    counts.moved ? `${counts.moved} moved` : '',
    counts.skipped ? `${counts.skipped} skipped` : '',
    counts.failed ? `${counts.failed} failed` : '',
  ]
    .filter(Boolean)
    .join(' · ');
}
