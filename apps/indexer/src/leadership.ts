import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Log } from '@akin/runtime';
import { type Collection, holdLease, type Lease, listCollections, releaseLeases, type Store } from '@akin/store';
import { inBackground } from './background.ts';

/** A lease that is not renewed is free after so long. */
const LEASE_MILLISECONDS = 5_000;
const RENEW_MILLISECONDS = 1_000;

/** A collection that this process leads: it alone commits there and keeps house. */
export interface Led {
  readonly collection: Collection;
  /** Undefined where no other process uses the store. */
  readonly lease: Lease | undefined;
}

/** Finds out which collections this process leads. Disposing gives them to others at once. */
export interface Leadership extends AsyncDisposable {
  led(): Promise<Led[]>;
}

/**
 * Holds the leases of as many collections as it can get, from now on.
 *
 * @param onGain called when it leads a collection that it did not lead before
 */
export function createLeadership(store: Store, log: Log, onGain: () => void): Leadership {
  if (!store.shared) {
    return {
      led: async () => (await listCollections(store)).map((collection) => ({ collection, lease: undefined })),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const holder = `${hostname()} ${process.pid} ${randomUUID()}`;
  const leases = new Map<number, { readonly lease: Lease; readonly until: number }>();

  async function renew(): Promise<void> {
    let gained = false;
    const collections = await listCollections(store);
    for (const collection of collections) {
      const from = performance.now();
      const lease = await holdLease(store, collection, holder, LEASE_MILLISECONDS);
      const before = leases.get(collection.id)?.lease;
      if (lease === undefined) {
        if (leases.delete(collection.id)) log.warn({ collection: collection.name }, 'another indexer leads by now');
        continue;
      }
      leases.set(collection.id, { lease, until: from + LEASE_MILLISECONDS });
      if (before?.epoch === lease.epoch) continue;
      gained = true;
      log.info({ collection: collection.name, epoch: String(lease.epoch) }, 'leads the collection');
    }
    const exists = new Set(collections.map(({ id }) => id));
    for (const id of leases.keys()) if (!exists.has(id)) leases.delete(id);
    if (gained) onGain();
  }

  const renewing = inBackground('leases', RENEW_MILLISECONDS, renew, log);
  renewing.wake();
  return {
    async led() {
      const now = performance.now();
      return (await listCollections(store)).flatMap((collection) => {
        const held = leases.get(collection.id);
        return held !== undefined && held.until > now ? [{ collection, lease: held.lease }] : [];
      });
    },
    async [Symbol.asyncDispose]() {
      await renewing[Symbol.asyncDispose]();
      leases.clear();
      await releaseLeases(store, holder).catch(() => {});
    },
  };
}
