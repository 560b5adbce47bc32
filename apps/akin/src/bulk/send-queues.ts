import type { BulkDocument } from './read-document.ts';

const BATCH_DOCUMENTS = 1_000;
const BATCH_BYTES = 4 * 1024 ** 2;
/** A user who types into standard input wants to see the result soon. */
const LINGER_MILLISECONDS = 1_000;

interface SendQueue {
  pending: BulkDocument[];
  bytes: number;
  since: number;
  sending: readonly BulkDocument[];
  done: Promise<void>;
}

/**
 * Divides documents into queues by their ids. Each queue sends one batch at a time: there are several concurrent
 * requests, and documents with the same id keep their order.
 */
export class SendQueues {
  readonly #queues: SendQueue[];
  readonly #send: (batch: readonly BulkDocument[]) => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  /** The first batch is sent alone and contains the first lines: its new fields decide their types. */
  #isFirst = true;
  #failure: { readonly error: unknown } | undefined;

  /** @param send resolves when a batch is finished. If it rejects, `add` and `end` reject too. */
  constructor(count: number, send: (batch: readonly BulkDocument[]) => Promise<void>) {
    this.#send = send;
    this.#queues = Array.from({ length: count }, () => ({
      pending: [],
      bytes: 0,
      since: 0,
      sending: [],
      done: Promise.resolve(),
    }));
    this.#timer = setInterval(() => this.#sendOld(), LINGER_MILLISECONDS / 2);
    this.#timer.unref();
  }

  async add(document: BulkDocument): Promise<void> {
    const queue = this.#queues[this.#isFirst ? 0 : hash(document.id) % this.#queues.length] as SendQueue;
    if (queue.pending.length === 0) queue.since = performance.now();
    queue.pending.push(document);
    queue.bytes += document.bytes.length;
    if (queue.pending.length >= BATCH_DOCUMENTS || queue.bytes >= BATCH_BYTES) {
      await queue.done;
      this.#begin(queue);
      if (this.#isFirst) await queue.done;
      this.#isFirst = false;
    }
    this.#check();
  }

  async end(): Promise<void> {
    for (const queue of this.#queues) {
      await queue.done;
      this.#begin(queue);
    }
    await this.waitForRequests();
    this.#check();
  }

  /** Waits for the requests in progress, and starts no more. */
  async waitForRequests(): Promise<void> {
    clearInterval(this.#timer);
    for (const { done } of this.#queues) await done;
  }

  /** The first document that is not finished yet; undefined if there is none. */
  first(): BulkDocument | undefined {
    const firsts = this.#queues.flatMap(({ sending, pending }) => sending[0] ?? pending[0] ?? []);
    return firsts.reduce<BulkDocument | undefined>(
      (min, one) => (min === undefined || one.number < min.number ? one : min),
      undefined,
    );
  }

  #begin(queue: SendQueue): void {
    if (this.#failure || queue.pending.length === 0) return;
    queue.sending = queue.pending;
    queue.pending = [];
    queue.bytes = 0;
    queue.done = this.#send(queue.sending).then(
      () => {
        queue.sending = [];
      },
      (error: unknown) => {
        this.#failure ??= { error };
      },
    );
  }

  #sendOld(): void {
    const now = performance.now();
    for (const queue of this.#queues) {
      if (queue.sending.length > 0 || queue.pending.length === 0 || now - queue.since < LINGER_MILLISECONDS) continue;
      this.#begin(queue);
    }
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error;
  }
}

/** FNV-1a over UTF-16 units. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
