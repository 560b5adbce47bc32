import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Log } from '@akin/runtime';
import { findLeases, type Lease, releaseLeases, renewLeases, type Store, takeLeases } from '@akin/store/changes';
import { type CollectionState, collectionStates } from '@akin/store/database';
import { inBackground } from './background.ts';

const LEASE_MILLISECONDS = 5_000;
const RENEW_MILLISECONDS = 1_000;
const MAX_NAMED = 10;

/** A collection that this process leads: only this process commits there and cleans up. */
export interface LedCollection extends CollectionState {
  /** Undefined if no other process uses the store. */
  readonly lease: Lease | undefined;
}

/** Finds out which collections this process leads. Disposing releases them at once. */
export interface Leadership extends AsyncDisposable {
  /** The collections that it leads: all of them, or those with pending changes. One statement. */
  ledCollections(only?: 'open' | 'all'): Promise<LedCollection[]>;
}

/**
 * Acquires and keeps the leases of as many collections as possible.
 *
 * @param onGain called when it leads a collection that it did not lead before
 */
export function createLeadership(store: Store, log: Log, onGain: () => void): Leadership {
  if (!store.shared) {
    return {
      ledCollections: async (only) =>
        (await collectionStates(store, only)).map((state) => ({ ...state, lease: undefined })),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const holder = `${hostname()} ${process.pid} ${randomUUID()}`;
  let leases: ReadonlyMap<number, Lease> = new Map();
  let until = Number.NEGATIVE_INFINITY;

  /** Separate, so that work in many collections does not delay it. */
  async function renew(): Promise<void> {
    const from = performance.now();
    const held = await renewLeases(store, holder, LEASE_MILLISECONDS);
    let gained = 0;
    for (const [id, { epoch }] of held) if (leases.get(id)?.epoch !== epoch) gained++;
    const lost = [...leases.keys()].filter((id) => !held.has(id));
    leases = held;
    until = from + LEASE_MILLISECONDS;
    if (lost.length > 0) await reportLostLeases(lost);
    if (gained === 0) return;
    log.info({ collections: gained, of: held.size }, 'leads more collections');
    onGain();
  }

  /** Nobody leads dropped collections. */
  async function reportLostLeases(ids: readonly number[]): Promise<void> {
    const there = (await collectionStates(store)).filter(({ collection }) => ids.includes(collection.id));
    if (there.length === 0) return;
    const names = there.slice(0, MAX_NAMED).map(({ collection }) => collection.name);
    log.warn({ collections: there.length, names }, 'another indexer leads now');
  }

  async function take(): Promise<void> {
    const taken = await takeLeases(store, await findLeases(store, holder), holder, LEASE_MILLISECONDS);
    if (taken.size > 0) renewing.wake();
  }

  const renewing = inBackground('leases', RENEW_MILLISECONDS, renew, log);
  const taking = inBackground('free leases', RENEW_MILLISECONDS, take, log);
  taking.wake();
  return {
    async ledCollections(only) {
      const states = await collectionStates(store, only);
      if (performance.now() >= until) return [];
      return states.flatMap((state) => {
        const lease = leases.get(state.collection.id);
        return lease === undefined ? [] : [{ ...state, lease }];
      });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([renewing[Symbol.asyncDispose](), taking[Symbol.asyncDispose]()]);
      leases = new Map();
      await releaseLeases(store, holder).catch(() => {});
    },
  };
}
