import type { Collection } from '@akin/client';
import { sleep } from '@akin/runtime';

/** Documents of one request whose pictures are being analyzed. */
export interface PendingRange {
  /** Numbers of their operations, inclusive at both ends. */
  readonly first: number;
  readonly last: number;
  /** Position of each document in the input. */
  readonly lines: readonly number[];
}

type Failed = (line: number | undefined, id: string | undefined, reason: string) => void;

/** Repeats a call until akin answers, or the time for retries is over. */
export type Retry = <Value>(ask: () => Promise<Value>) => Promise<Value>;

/** Maximum number of pictures that may wait. At this number, sending pauses. */
const MAX_WAITING = 20_000;
const POLL_MILLISECONDS = 500;
const PAGE = 1_000;

/** Watches accepted documents until their pictures are analyzed, and reports those that failed. */
export class OperationWatcher {
  readonly #collection: Collection;
  readonly #failed: Failed;
  readonly #retry: Retry;
  #ranges: PendingRange[];
  #waiting = 0;

  constructor(collection: Collection, ranges: readonly PendingRange[], failed: Failed, retry: Retry) {
    this.#collection = collection;
    this.#failed = failed;
    this.#retry = retry;
    this.#ranges = [];
    for (const range of ranges) this.add(range);
  }

  get ranges(): readonly PendingRange[] {
    return this.#ranges;
  }

  get waiting(): number {
    return this.#waiting;
  }

  add(range: PendingRange): void {
    const at = this.#ranges.findIndex(({ first }) => first > range.first);
    this.#ranges.splice(at < 0 ? this.#ranges.length : at, 0, range);
    this.#waiting += range.lines.length;
  }

  /** Waits until few enough documents are in progress, or none with `all`. */
  async waitForCapacity(signal: AbortSignal, all = false): Promise<void> {
    while (this.#waiting > (all ? 0 : MAX_WAITING)) {
      if ((await this.#poll(signal)) === 0) await sleep(POLL_MILLISECONDS, signal);
    }
  }

  /** @returns the number of finished ranges */
  async #poll(signal: AbortSignal): Promise<number> {
    const [earliest] = this.#ranges;
    if (earliest === undefined) return 0;
    const cursor = String(earliest.first - 1);
    let open = Number.POSITIVE_INFINITY;
    for (const state of ['queued', 'analyzing', 'queued'] as const) {
      const { operations } = await this.#retry(() =>
        this.#collection.operations({ state, limit: 1, cursor }, { signal }),
      );
      const [first] = operations;
      if (first) open = Math.min(open, seqOf(first.operation));
    }
    const done = this.#ranges.filter(({ last }) => last < open);
    for (const range of done) {
      await this.#reportFailed(range, signal);
      this.#ranges = this.#ranges.filter((one) => one !== range);
      this.#waiting -= range.lines.length;
    }
    return done.length;
  }

  async #reportFailed({ first, last, lines }: PendingRange, signal: AbortSignal): Promise<void> {
    for await (const { seq, id, reason } of failedOperations(this.#collection, first, last, signal, this.#retry)) {
      this.#failed(lines[seq - first], id, reason);
    }
  }
}

export async function* failedOperations(
  collection: Collection,
  first: number,
  last: number,
  signal: AbortSignal,
  retry: Retry,
): AsyncGenerator<{ seq: number; id: string | undefined; reason: string }> {
  let next: string | undefined = String(first - 1);
  while (next !== undefined) {
    const cursor: string = next;
    const page = await retry(() => collection.operations({ state: 'failed', limit: PAGE, cursor }, { signal }));
    for (const { operation, id, reason } of page.operations) {
      const seq = seqOf(operation);
      if (seq > last) return;
      yield { seq, id, reason: reason?.msg ?? 'It failed.' };
    }
    next = page.nextCursor;
  }
}

/** The number in `<collection>-<number>`. */
export function seqOf(operation: string): number {
  return Number(operation.slice(operation.lastIndexOf('-') + 1));
}
