import { AkinError } from '@akin/domain';

/** The part of one request in the bytes that are held. */
export interface Hold {
  /** @throws AkinError too-many-requests when others hold so much that this is not taken too */
  raise(total: number): void;
  release(): void;
}

/**
 * Counts the bytes of bodies that are held in memory until their requests are answered: each is limited, and all
 * together are too. One that comes alone is taken whatever its size.
 */
export class HeldBytes {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  open(): Hold {
    let own = 0;
    return {
      raise: (total) => {
        if (total <= own) return;
        if (this.#held > own && this.#held - own + total > this.#most) {
          throw new AkinError('too-many-requests', 'Too many large requests are at work: try again in a moment.', {
            retryAfterSeconds: 2,
          });
        }
        this.#held += total - own;
        own = total;
      },
      release: () => {
        this.#held -= own;
        own = 0;
      },
    };
  }
}
