import { setMaxListeners } from 'node:events';
import { AkinError } from '@akin/domain';
import type { Store } from '@akin/store/changes';
import { Feed } from './feed.ts';

/** Maximum number of streams in one process: each is a lasting connection. */
const MAX_READERS = 500;

export class Feeds {
  readonly #store: Store;
  readonly #feeds = new Map<string, Feed>();
  readonly #stopping = new AbortController();
  #readers = 0;

  constructor(store: Store) {
    this.#store = store;
    // Each feed listens to this signal, and there are at most as many feeds as readers.
    setMaxListeners(MAX_READERS, this.#stopping.signal);
  }

  stop(): void {
    this.#stopping.abort();
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** @throws AkinError too-many-requests if there are too many listeners */
  requireCapacity(): void {
    if (this.#readers < MAX_READERS) return;
    throw new AkinError('too-many-requests', `All ${MAX_READERS} streams are in use: try again later.`, {
      retryAfterSeconds: 10,
    });
  }

  /** Call `close` at the end of its use. */
  open(name: string): { readonly feed: Feed; readonly close: () => void } {
    this.#readers++;
    const feed = this.#feeds.get(name) ?? new Feed(this.#store, name, this.#stopping.signal);
    this.#feeds.set(name, feed);
    const end = feed.listen();
    return {
      feed,
      close: () => {
        this.#readers--;
        end();
        if (!feed.isUsed) this.#feeds.delete(name);
      },
    };
  }
}
