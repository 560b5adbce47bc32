/** The counts of a run over many files so far. */
export interface Counts {
  /** Files found so far. Final if `complete`. */
  found: number;
  complete: boolean;
  done: number;
  unchanged: number;
  /** Skipped because their documents were deleted on purpose. */
  leftOut: number;
  failed: number;
}

/** A file that could not be indexed. */
export interface Failure {
  readonly file: string;
  /** An error code of akin, or `unreadable` if the file could not be read. */
  readonly code: string;
  readonly reason: string;
}

/**
 * Shows the progress of a run: one line that is redrawn on a terminal, or a new line every ten seconds elsewhere. The
 * rate is the mean since the start, over the files that were processed.
 */
export class Progress {
  readonly counts: Counts = { found: 0, complete: false, done: 0, unchanged: 0, leftOut: 0, failed: 0 };
  readonly failures: Failure[] = [];
  readonly #out: NodeJS.WriteStream;
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    this.#timer = setInterval(() => this.#draw(), out.isTTY ? 200 : 10_000);
    this.#timer.unref();
  }

  /** Prints a permanent line above the bar. */
  say(line: string): void {
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${line}\n` : `${line}\n`);
  }

  fail(failure: Failure): void {
    this.counts.failed++;
    this.failures.push(failure);
  }

  /** Undefined while it is unknown. */
  get secondsLeft(): number | undefined {
    return secondsLeft(this.counts, (performance.now() - this.#started) / 1000);
  }

  /** Draws the bar for the last time and ends its line. */
  finish(): void {
    clearInterval(this.#timer);
    this.#draw();
    if (this.#out.isTTY) this.#out.write('\n');
  }

  #draw(): void {
    const line = progressLine(this.counts, (performance.now() - this.#started) / 1000);
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${line.slice(0, (this.#out.columns ?? 80) - 1)}` : `${line}\n`);
  }
}

function secondsLeft({ found, complete, done, unchanged, leftOut, failed }: Counts, seconds: number) {
  const worked = done + failed;
  const left = found - worked - unchanged - leftOut;
  return complete && left > 0 && worked > 0 && seconds > 0 ? (left * seconds) / worked : undefined;
}

/** One line: bar, count, rate, time left, failures. `seconds` since the start. */
export function progressLine(counts: Counts, seconds: number): string {
  const worked = counts.done + counts.failed;
  const finished = worked + counts.unchanged + counts.leftOut;
  const rate = seconds > 0 ? worked / seconds : 0;
  const share = counts.found ? finished / counts.found : counts.complete ? 1 : 0;
  const bar = '█'.repeat(Math.round(share * 20)).padEnd(20, '░');
  const left = secondsLeft(counts, seconds);
  return [
    `${bar} ${finished}/${counts.found}${counts.complete ? '' : '+'} pictures`,
    `${rate.toFixed(1)}/s`,
    left === undefined ? '' : `${duration(left)} left`,
    counts.unchanged ? `${counts.unchanged} unchanged` : '',
    counts.leftOut ? `${counts.leftOut} skipped` : '',
    counts.failed ? `${counts.failed} failed` : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Seconds for people: `40 s`, `3 min`, `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
