import { IN_RANGE, overlapping, type SeqRange } from '../accept/operations.ts';
import { finishRequests } from '../accept/requests.ts';
import { countFailures, tally } from '../commit/failures.ts';
import type { Collection, Store } from '../context.ts';

/** In milliseconds. */
export interface HostPatienceLimits {
  /** How long a client waits for the pictures of a host that does not deliver. */
  readonly total: number;
  /** How long it waits after the first failure, if that comes late because the request is large. */
  readonly afterFailure: number;
}

const CHECK_MILLISECONDS = 1_000;

/**
 * Limits how long a client waits for pictures of hosts that hang, fail or ask to come back later. Its operations whose
 * picture failed once, or whose host has delivered none of the others, then fail with the last error of their host.
 *
 * @param range the operations of the client
 * @returns a check to call often. It gives up what has had its time.
 */
export function hostPatience(
  store: Store,
  range: SeqRange,
  { total, afterFailure }: HostPatienceLimits,
): (collection: Collection) => Promise<void> {
  const end = performance.now() + total;
  /** When the first failure of a host was seen. */
  const failingSince = new Map<string, number>();
  let nextCheck = performance.now() + Math.min(total, CHECK_MILLISECONDS);
  return async (collection) => {
    const now = performance.now();
    if (now < nextCheck) return;
    for (const host of await failingHosts(store, collection, range)) {
      if (!failingSince.has(host)) failingSince.set(host, now);
    }
    if (failingSince.size > 0) {
      const due = [...failingSince].filter(([, since]) => now >= Math.max(end, since + afterFailure));
      const left = Math.max(end - now, afterFailure);
      await giveUp(store, collection, range, { hosts: due.map(([host]) => host), left });
    }
    // The checks of a large request take a tenth of the time at most.
    nextCheck = performance.now() + Math.max(Math.min(total, CHECK_MILLISECONDS), 9 * (performance.now() - now));
  };
}

const OPEN = `o.state in ('queued', 'analyzing')`;

async function failingHosts(store: Store, { id, sqlSchema: S }: Collection, { first, last }: SeqRange) {
  const rows = await store.engine.query<{ host: string }>(
    `select distinct o.host
       from akin.collections c, ${S}.requests r join ${S}.operations o on o.request = r.request and ${IN_RANGE}
      where c.id = $1 and ${overlapping(S)} and not r.finished and ${OPEN} and o.failed_attempts > 0
        and o.host is not null`,
    [id, first, last],
  );
  return rows.map(({ host }) => host);
}

/** @param left an attempt that would start later than in this number of milliseconds is too late */
async function giveUp(
  store: Store,
  collection: Collection,
  { first, last }: SeqRange,
  { hosts, left }: { readonly hosts: readonly string[]; readonly left: number },
): Promise<void> {
  const S = collection.sqlSchema;
  const inRange = `${S}.requests r join ${S}.operations o on o.request = r.request and ${IN_RANGE}`;
  const failed = await store.engine.transaction(async (tx) => {
    const rows = await tx.query<{ request: bigint; code: string | null }>(
      `with delivering as materialized (
         select distinct o.host from ${inRange}
          where ${overlapping(S)} and o.host = any($1::text[]) and o.state in ('ready', 'applied')
       ), waiting as materialized (
         select o.request, o.position, o.host, o.failed_attempts, o.error_code, o.error_msg, o.available_at, o.state
           from ${inRange} where ${overlapping(S)} and not r.finished and ${OPEN}
       ), errors as (
         select distinct on (host) host, error_code, error_msg from waiting where failed_attempts > 0
       ), late as materialized (
         select w.request, w.position, e.error_code, e.error_msg from waiting w join errors e using (host)
          where w.host = any($1::text[]) and (w.failed_attempts > 0 or w.host not in (select host from delivering))
             or w.failed_attempts > 0 and w.state = 'queued'
                and w.available_at > now() + $4::float8 * interval '1 millisecond'
       )
       update ${S}.operations o
          set state = 'failed', available_at = null, error_code = coalesce(o.error_code, late.error_code),
              error_msg = coalesce(o.error_msg, late.error_msg)
         from late where o.request = late.request and o.position = late.position and ${OPEN}
       returning o.request, o.error_code as code`,
      [hosts, first, last, left],
    );
    if (rows.length === 0) return false;
    await countFailures(
      tx,
      S,
      tally(
        rows.map(({ code }) => code),
        1,
      ),
    );
    await finishRequests(tx, collection, [...new Set(rows.map(({ request }) => request))]);
    return true;
  });
  if (failed) store.memory.events.notify(collection.id);
}
