import { AkinError } from '@akin/domain';
import { Semaphore } from '@akin/runtime';
import type { GatewayLimits, SemaphoreLimits } from './limits.ts';

/** The part of a shared limit that one client may use, so that some is left for others: all of up to three slots. */
const SHARE = 3 / 4;
const shareOf = (slots: number) => Math.ceil(slots * SHARE);

const RETRY_AFTER_SECONDS = 2;
/** Work of a request that has ended keeps its slot for at most this time. */
const ABANDONED_MILLISECONDS = 60_000;

export interface Semaphores {
  readonly searches: Semaphore;
  readonly bulkUpdates: Semaphore;
  readonly sentPictures: Semaphore;
  readonly fetchedPictures: Semaphore;
}

export function createSemaphores(limits: Pick<GatewayLimits, keyof Semaphores>): Semaphores {
  return {
    searches: createSemaphore('searches', limits.searches),
    bulkUpdates: createSemaphore('large updates', limits.bulkUpdates),
    sentPictures: createSemaphore('pictures', limits.sentPictures),
    fetchedPictures: createSemaphore('pictures', limits.fetchedPictures),
  };
}

function createSemaphore(
  what: string,
  { concurrent, queued, queueMilliseconds, fair = false }: SemaphoreLimits,
): Semaphore {
  return new Semaphore(concurrent, {
    queued,
    queueMilliseconds,
    abandonedMilliseconds: ABANDONED_MILLISECONDS,
    ...(fair && { perClient: shareOf(concurrent), queuedPerClient: shareOf(queued) }),
    // Where clients have shares, one of them may send too many. Otherwise akin is overloaded.
    refusal: () => tooMany(fair ? 'too-many-requests' : 'unavailable', `Too many ${what} are running`),
  });
}

/** Limits the bytes of request bodies that are in memory until their requests are answered. */
export function createMemoryBudget(bytes: number): Semaphore {
  return new Semaphore(bytes, {
    perClient: shareOf(bytes),
    refusal: () => tooMany('too-many-requests', 'Too many large requests are running'),
  });
}

/** Limits open requests, because each needs some memory. Clients are addresses. */
export function createOpenRequests(max: number): Semaphore {
  return new Semaphore(max, {
    perClient: shareOf(max),
    refusal: (isShare) =>
      isShare
        ? tooMany('too-many-requests', `More than ${shareOf(max)} requests from this address are open`)
        : tooMany('unavailable', 'Too many requests are open'),
  });
}

function tooMany(code: 'too-many-requests' | 'unavailable', what: string): AkinError {
  return new AkinError(code, `${what}: try again in a moment.`, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
