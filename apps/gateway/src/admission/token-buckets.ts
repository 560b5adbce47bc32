export interface RateDecision {
  readonly allowed: boolean;
  /** The maximum number of requests at once. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the bucket is full again, and until it contains one token: whole numbers, at least 1. */
  readonly resetSeconds: number;
  readonly retrySeconds: number;
}

/** The capacity of a bucket in seconds of its rate. */
const SECONDS_HELD = 10;
/** Beyond this number the least recently used one is removed; it would be full again by then. */
const MAX_BUCKETS = 50_000;

/**
 * Token buckets in memory, by name. Each fills at its rate, and a request takes one token. Several gateways count
 * separately.
 */
export class TokenBuckets {
  readonly #buckets = new Map<string, { tokens: number; at: number }>();
  readonly #now: () => number;

  /** @param now a clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param rate tokens per second */
  take(name: string, rate: number): RateDecision {
    const limit = rate * SECONDS_HELD;
    const now = this.#now();
    const before = this.#buckets.get(name);
    const filled = before ? Math.min(limit, before.tokens + ((now - before.at) / 1000) * rate) : limit;
    const allowed = filled >= 1;
    const tokens = allowed ? filled - 1 : filled;
    // Moved to the end: the first one is the least recently used.
    this.#buckets.delete(name);
    this.#buckets.set(name, { tokens, at: now });
    if (this.#buckets.size > MAX_BUCKETS) {
      const [oldest] = this.#buckets.keys();
      this.#buckets.delete(oldest as string);
    }
    return {
      allowed,
      limit,
      remaining: Math.floor(tokens),
      resetSeconds: Math.max(1, Math.ceil((limit - tokens) / rate)),
      retrySeconds: Math.max(1, Math.ceil((1 - tokens) / rate)),
    };
  }
}
