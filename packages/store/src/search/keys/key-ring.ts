import { setTimeout } from 'node:timers/promises';
import type { KeyFilter, SearchStore } from '../context.ts';
import { parseKeyFilter, readSetFields } from './key-filter.ts';
import { isSecretOf, readKeyText } from './key-text.ts';
import { LAST_USE_RESOLUTION_MILLISECONDS, loadKeys, recordKeyUse, type StoredKey } from './keys.ts';
import { isSignedBy, readSearchToken, readTokenText } from './search-token.ts';

/** If other processes may change the keys, they are read again after this time, in the background. */
const FRESH_MILLISECONDS = 1_000;
/** After this time, requests wait until the keys are read again. */
const STALE_MILLISECONDS = 3_000;
/** For an unknown id, keys are read again, but at most once in this time. */
const UNKNOWN_MILLISECONDS = 200;

/** A key as a request sent it: itself, or a search token of it, which may do less. */
export interface SentKey extends StoredKey {
  /** By its own filter, and that of the token. Undefined if there is none. */
  readonly keyFilter: KeyFilter | undefined;
}

function keyFilterOf(texts: readonly (string | null)[], set: readonly string[]): KeyFilter | undefined {
  const filters = texts.filter((text) => text !== null);
  if (filters.length === 0) return undefined;
  return {
    queries: filters.map(parseKeyFilter),
    texts: filters,
    set: set.length === 0 ? undefined : readSetFields(set),
    clock: { now: new Date(), timeZone: 'UTC' },
  };
}

/**
 * All keys, in memory, so that a request needs no statement. A key that was revoked in another process is accepted here
 * for at most {@link STALE_MILLISECONDS} and the time of a read.
 */
export class KeyRing {
  readonly #store: SearchStore;
  #keys: ReadonlyMap<string, StoredKey> = new Map();
  #origins: ReadonlySet<string> = new Set();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** The read in progress, which all requests with an unknown key wait for. */
  #seeking: Promise<void> | undefined;

  constructor(store: SearchStore) {
    this.#store = store;
  }

  /**
   * The key with this text, or the search token that a key has signed, expired or not; undefined if there is none.
   * @throws AkinError unavailable if the keys cannot be read; bad-request for a signed token with other contents
   */
  async find(text: string): Promise<SentKey | undefined> {
    const sent = readKeyText(text);
    if (sent !== undefined) {
      const key = await this.#seek(sent.id);
      if (key === undefined || !isSecretOf(key.hash, sent.secret)) return undefined;
      return { ...key, keyFilter: keyFilterOf([key.filter], key.set) };
    }
    const token = readTokenText(text);
    const parent = token && (await this.#seek(token.keyId));
    if (token === undefined || parent === undefined || !isSignedBy(parent.hash, token)) return undefined;
    const { filter, expiresAt } = readSearchToken(token);
    return {
      ...parent,
      scope: 'search',
      expiresAt: parent.expiresAt !== null && parent.expiresAt < expiresAt ? parent.expiresAt : expiresAt,
      keyFilter: keyFilterOf([parent.filter, filter], parent.set),
    };
  }

  /** The key with this id, read again if it may be new. */
  async #seek(id: string): Promise<StoredKey | undefined> {
    const asked = performance.now();
    await this.#refresh();
    // Another process may have created it a moment ago.
    while (this.#store.shared && !this.#keys.has(id) && this.#readAt < asked) {
      this.#seeking ??= this.#readSoon();
      await this.#seeking;
    }
    return this.#keys.get(id);
  }

  async withId(id: string): Promise<StoredKey | undefined> {
    await this.#refresh();
    return this.#keys.get(id);
  }

  /** Whether pages of an origin may use any key. */
  async hasOrigin(origin: string): Promise<boolean> {
    await this.#refresh();
    return this.#origins.has(origin);
  }

  /** In the background: the request does not depend on it. */
  recordUse(id: string): void {
    const key = this.#keys.get(id);
    if (key === undefined) return;
    const now = new Date();
    if (key.usedAt !== null && now.getTime() - key.usedAt.getTime() < LAST_USE_RESOLUTION_MILLISECONDS) return;
    this.#keys = new Map(this.#keys).set(key.id, { ...key, usedAt: now });
    recordKeyUse(this.#store, key.id).catch(() => undefined);
  }

  /** Call it after a change of keys in this process. */
  reload(): Promise<void> {
    // A read in progress may be from before the change.
    const reading = (this.#reading ?? Promise.resolve()).catch(() => undefined).then(() => this.#read());
    this.#reading = reading;
    const done = () => {
      if (this.#reading === reading) this.#reading = undefined;
    };
    reading.then(done, done);
    return reading;
  }

  async #refresh(): Promise<void> {
    const age = this.#age();
    if (age <= FRESH_MILLISECONDS || (age < Number.POSITIVE_INFINITY && !this.#store.shared)) return;
    const reading = this.#reading ?? this.reload();
    if (age > STALE_MILLISECONDS) await reading;
    else reading.catch(() => undefined);
  }

  async #readSoon(): Promise<void> {
    try {
      await setTimeout(Math.max(0, UNKNOWN_MILLISECONDS - this.#age()));
      await this.reload();
    } finally {
      this.#seeking = undefined;
    }
  }

  #age(): number {
    return performance.now() - this.#readAt;
  }

  async #read(): Promise<void> {
    const began = performance.now();
    const keys = await loadKeys(this.#store);
    this.#keys = new Map(keys.map((key) => [key.id, key]));
    this.#origins = new Set(keys.flatMap(({ origins }) => origins));
    this.#readAt = began;
  }
}
