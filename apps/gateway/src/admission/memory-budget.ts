import { AkinError } from '@akin/domain';
import { fairShareOf } from './fair-share.ts';

/** The bytes of the budget that one request uses. */
export interface Reservation {
  /**
   * Reserves bytes, so that the request has `total` of them; never fewer than before.
   *
   * @throws AkinError too-many-requests if the budget, or the share of the client, is used up; the reason of the signal
   */
  growTo(total: number): void;
  release(): void;
}

/**
 * Limits the bytes of request bodies that are in memory until their requests are answered: all together to the budget,
 * and those of one client to its share. A single request is always admitted, whatever its size.
 */
export class MemoryBudget {
  readonly #max: number;
  readonly #ofClients = new Map<string, number>();
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * @param client undefined for akin itself, which may use all
   * @param signal that of the request: afterwards it reserves nothing more
   */
  open(client: string | undefined, signal: AbortSignal): Reservation {
    let own = 0;
    return {
      growTo: (total) => {
        signal.throwIfAborted();
        if (total <= own) return;
        const isAlone = this.#held === own;
        const ofClient = this.#heldBy(client);
        const more = total - own;
        if (!isAlone && (this.#held + more > this.#max || ofClient + more > fairShareOf(this.#max))) {
          throw new AkinError('too-many-requests', 'Too many large requests are running: try again in a moment.', {
            retryAfterSeconds: 2,
          });
        }
        this.#add(client, more);
        own = total;
      },
      release: () => {
        this.#add(client, -own);
        own = 0;
      },
    };
  }

  #heldBy(client: string | undefined): number {
    return client === undefined ? 0 : (this.#ofClients.get(client) ?? 0);
  }

  #add(client: string | undefined, bytes: number): void {
    this.#held += bytes;
    if (client === undefined) return;
    const now = this.#heldBy(client) + bytes;
    if (now > 0) this.#ofClients.set(client, now);
    else this.#ofClients.delete(client);
  }
}
