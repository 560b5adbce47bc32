import type { BulkDocument } from './read-document.ts';

/** What is sent at once. */
const BATCH_DOCUMENTS = 1_000;
const BATCH_BYTES = 4 * 1024 ** 2;
/** Whoever writes to standard input now and then wants to see it. */
const LINGER_MILLISECONDS = 1_000;

interface Lane {
  pending: BulkDocument[];
  bytes: number;
  since: number;
  sending: readonly BulkDocument[];
  done: Promise<void>;
}

/**
 * Parts documents by their ids among lanes that send one batch after the other each: several requests are under way,
 * and yet no document overtakes another one with its id.
 */
export class Lanes {
  readonly #lanes: Lane[];
  readonly #send: (batch: readonly BulkDocument[]) => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  /** The first batch is sent alone and holds the first lines: what it has of new fields decides their types. */
  #isFirst = true;
  #failure: { readonly error: unknown } | undefined;

  /** @param send resolves when a batch is dealt with; when it rejects, `add` and `end` do */
  constructor(count: number, send: (batch: readonly BulkDocument[]) => Promise<void>) {
    this.#send = send;
    this.#lanes = Array.from({ length: count }, () => ({
      pending: [],
      bytes: 0,
      since: 0,
      sending: [],
      done: Promise.resolve(),
    }));
    this.#timer = setInterval(() => this.#sendOld(), LINGER_MILLISECONDS / 2);
    this.#timer.unref();
  }

  /** Waits while the lane of the document is full. */
  async add(document: BulkDocument): Promise<void> {
    const lane = this.#lanes[this.#isFirst ? 0 : hash(document.id) % this.#lanes.length] as Lane;
    if (lane.pending.length === 0) lane.since = performance.now();
    lane.pending.push(document);
    lane.bytes += document.bytes.length;
    if (lane.pending.length >= BATCH_DOCUMENTS || lane.bytes >= BATCH_BYTES) {
      await lane.done;
      this.#begin(lane);
      if (this.#isFirst) await lane.done;
      this.#isFirst = false;
    }
    this.#check();
  }

  /** Sends what is left, and waits for all. */
  async end(): Promise<void> {
    for (const lane of this.#lanes) {
      await lane.done;
      this.#begin(lane);
    }
    await this.settle();
    this.#check();
  }

  /** Waits for what is under way, and begins nothing more. */
  async settle(): Promise<void> {
    clearInterval(this.#timer);
    for (const { done } of this.#lanes) await done;
  }

  /** The first document that is not dealt with yet; undefined when there is none. */
  first(): BulkDocument | undefined {
    const firsts = this.#lanes.flatMap(({ sending, pending }) => sending[0] ?? pending[0] ?? []);
    return firsts.reduce<BulkDocument | undefined>(
      (least, one) => (least === undefined || one.number < least.number ? one : least),
      undefined,
    );
  }

  #begin(lane: Lane): void {
    if (this.#failure || lane.pending.length === 0) return;
    lane.sending = lane.pending;
    lane.pending = [];
    lane.bytes = 0;
    lane.done = this.#send(lane.sending).then(
      () => {
        lane.sending = [];
      },
      (error: unknown) => {
        this.#failure ??= { error };
      },
    );
  }

  #sendOld(): void {
    const now = performance.now();
    for (const lane of this.#lanes) {
      if (lane.sending.length > 0 || lane.pending.length === 0 || now - lane.since < LINGER_MILLISECONDS) continue;
      this.#begin(lane);
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
