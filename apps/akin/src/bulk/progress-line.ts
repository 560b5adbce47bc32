import { duration } from '../folder/progress.ts';

/** The counts of a run so far. */
export interface BulkCounts {
  readonly documents: number;
  readonly failed: number;
  /** From 0 to 1, if it is known. */
  readonly share: number | undefined;
  readonly note: string;
}

/** One line that is redrawn on a terminal. Elsewhere, a new line every ten seconds. */
export class ProgressLine {
  readonly #out: NodeJS.WriteStream;
  readonly #counts: () => BulkCounts;
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #before: number;

  constructor(out: NodeJS.WriteStream, counts: () => BulkCounts) {
    this.#out = out;
    this.#counts = counts;
    this.#before = counts().documents;
    this.#timer = setInterval(() => this.#draw(), out.isTTY ? 200 : 10_000);
    this.#timer.unref();
  }

  get seconds(): number {
    return (performance.now() - this.#started) / 1_000;
  }

  finish(): void {
    clearInterval(this.#timer);
    this.#draw();
    if (this.#out.isTTY) this.#out.write('\n');
  }

  #draw(): void {
    const line = bulkLine(this.#counts(), this.#before, this.seconds);
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${line.slice(0, (this.#out.columns ?? 80) - 1)}` : `${line}\n`);
  }
}

/** @param before documents of earlier runs, which are not part of the rate of this run */
function bulkLine(counts: BulkCounts, before: number, seconds: number): string {
  const { documents, failed, share, note } = counts;
  const rate = seconds > 0 ? (documents - before) / seconds : 0;
  const left = share !== undefined && share > 0.01 && share < 1 ? (seconds * (1 - share)) / share : undefined;
  return [
    `${documents.toLocaleString('en')} documents`,
    `${rate.toFixed(0)}/s`,
    share === undefined ? '' : `${(share * 100).toFixed(0)} %`,
    left === undefined ? '' : `${duration(left)} left`,
    failed > 0 ? `${failed.toLocaleString('en')} failed` : '',
    note,
  ]
    .filter(Boolean)
    .join(' · ');
}
