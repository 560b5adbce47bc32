import type { BulkDocument } from './read-document.ts';

/** Size of one request. */
const BATCH_DOCUMENTS = 1_000;
const BATCH_BYTES = 4 * 1024 ** 2;
/** A user who types into standard input wants to see the result soon. */
const LINGER_MILLISECONDS = 1_000;

interface Shard {
  pending: BulkDocument[];
  bytes: number;
  since: number;
  sending: readonly BulkDocument[];
  done: Promise<void>;
}

/**
 * Divides documents into shards by their ids. Each shard sends one batch at a time: there are several concurrent
 * requests, and documents with the same id keep their order.
 */
export class Shards {
  readonly #shards: Shard[];
  readonly #send: (batch: readonly BulkDocument[]) => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  /** The first batch is sent alone and contains the first lines: its new fields decide their types. */
  #isFirst = true;
  #failure: { readonly error: unknown } | undefined;

  /** @param send resolves when a batch is finished. If it rejects, `add` and `end` reject too. */
  constructor(count: number, send: (batch: readonly BulkDocument[]) => Promise<void>) {
    this.#send = send;
    this.#shards = Array.from({ length: count }, () => ({
      pending: [],
      bytes: 0,
      since: 0,
      sending: [],
      done: Promise.resolve(),
    }));
    this.#timer = setInterval(() => this.#sendOld(), LINGER_MILLISECONDS / 2);
    this.#timer.unref();
  }

  /** Waits while the shard of the document is full. */
  async add(document: BulkDocument): Promise<void> {
    const shard = this.#shards[this.#isFirst ? 0 : hash(document.id) % this.#shards.length] as Shard;
    if (shard.pending.length === 0) shard.since = performance.now();
    shard.pending.push(document);
    shard.bytes += document.bytes.length;
    if (shard.pending.length >= BATCH_DOCUMENTS || shard.bytes >= BATCH_BYTES) {
      await shard.done;
      this.#begin(shard);
      if (this.#isFirst) await shard.done;
      this.#isFirst = false;
    }
    this.#check();
  }

  /** Sends the remaining documents, and waits for all. */
  async end(): Promise<void> {
    for (const shard of this.#shards) {
      await shard.done;
      this.#begin(shard);
    }
    await this.drained();
    this.#check();
  }

  /** Waits for the requests in progress, and starts no more. */
  async drained(): Promise<void> {
    clearInterval(this.#timer);
    for (const { done } of this.#shards) await done;
  }

  /** The first document that is not finished yet; undefined if there is none. */
  first(): BulkDocument | undefined {
    const firsts = this.#shards.flatMap(({ sending, pending }) => sending[0] ?? pending[0] ?? []);
    return firsts.reduce<BulkDocument | undefined>(
      (least, one) => (least === undefined || one.number < least.number ? one : least),
      undefined,
    );
  }

  #begin(shard: Shard): void {
    if (this.#failure || shard.pending.length === 0) return;
    shard.sending = shard.pending;
    shard.pending = [];
    shard.bytes = 0;
    shard.done = this.#send(shard.sending).then(
      () => {
        shard.sending = [];
      },
      (error: unknown) => {
        this.#failure ??= { error };
      },
    );
  }

  #sendOld(): void {
    const now = performance.now();
    for (const shard of this.#shards) {
      if (shard.sending.length > 0 || shard.pending.length === 0 || now - shard.since < LINGER_MILLISECONDS) continue;
      this.#begin(shard);
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
