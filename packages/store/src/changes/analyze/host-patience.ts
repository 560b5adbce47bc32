import type { Collection } from '../../database/context.ts';
import { IN_RANGE, overlapping, type SeqRange } from '../accept/operations.ts';
import { finishRequests } from '../accept/requests.ts';
import { countFailures } from '../commit/failures.ts';
import type { Store } from '../context.ts';

/** In milliseconds. */
export interface HostPatienceLimits {
  /** How long a client waits for the pictures of a host that does not deliver. */
  readonly total: number;
  /** How long it waits after the first failure, if that comes late because the request is large. */
  readonly afterFailure: number;
}

const CHECK_MILLISECONDS = 1_000;

/** A host with a picture that failed, and is tried again. */
interface FailingHost {
  /** When its first failure was seen. */
  readonly since: number;
  readonly delivered: number;
  /** When that number last grew. */
  readonly deliveredAt: number;
}

/**
 * Limits how long a client waits for pictures of hosts that hang, fail or ask to come back later. Its operations whose
 * picture failed once, or whose host has delivered none for a while, then fail with the last error of their host.
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
  let failing: ReadonlyMap<string, FailingHost> = new Map();
  let nextCheck = performance.now() + Math.min(total, CHECK_MILLISECONDS);
  return async (collection) => {
    const now = performance.now();
    if (now < nextCheck) return;
    const found = await readFailingHosts(store, collection, range);
    failing = new Map(found.map(({ host, delivered }) => [host, seenAgain(failing.get(host), delivered, now)]));
    const late = [...failing].filter(([, { since }]) => now >= Math.max(end, since + afterFailure));
    const silent = late.filter(([, { deliveredAt }]) => now > deliveredAt + afterFailure);
    if (failing.size > 0) {
      await giveUp(store, collection, range, {
        hosts: late.map(([host]) => host),
        silent: silent.map(([host]) => host),
        left: Math.max(end - now, afterFailure),
      });
    }
    // The checks of a large request take a tenth of the time at most.
    nextCheck = performance.now() + Math.max(Math.min(total, CHECK_MILLISECONDS), 9 * (performance.now() - now));
  };
}

function seenAgain(before: FailingHost | undefined, delivered: number, now: number): FailingHost {
  if (before?.delivered === delivered) return before;
  return { since: before?.since ?? now, delivered, deliveredAt: delivered === 0 ? Number.NEGATIVE_INFINITY : now };
}

const OPEN = `o.state in ('queued', 'analyzing')`;

async function readFailingHosts(
  store: Store,
  { id, sqlSchema: S }: Collection,
  { first, last }: SeqRange,
): Promise<{ readonly host: string; readonly delivered: number }[]> {
  return store.engine.query(
    `select o.host, (count(*) filter (where o.state in ('ready', 'applied')))::int as delivered
       from akin.collections c, ${S}.requests r join ${S}.operations o on o.request = r.request and ${IN_RANGE}
      where c.id = $1 and ${overlapping(S)} and not r.finished and o.host is not null
      group by o.host having bool_or(${OPEN} and o.failed_attempts > 0)`,
    [id, first, last],
  );
}

interface GivenUp {
  /** Those whose failed pictures have had their time. */
  readonly hosts: readonly string[];
  /** Those of them that deliver none any more. */
  readonly silent: readonly string[];
  /** An attempt that would start later than in this number of milliseconds is too late. */
  readonly left: number;
}

async function giveUp(
  store: Store,
  collection: Collection,
  { first, last }: SeqRange,
  { hosts, silent, left }: GivenUp,
): Promise<void> {
  const S = collection.sqlSchema;
  const inRange = `${S}.requests r join ${S}.operations o on o.request = r.request and ${IN_RANGE}`;
  const failed = await store.engine.transaction(async (tx) => {
    const rows = await tx.query<{ request: bigint; code: string | null }>(
      `with waiting as materialized (
         select o.request, o.position, o.host, o.failed_attempts, o.error_code, o.error_msg, o.available_at, o.state
           from ${inRange} where ${overlapping(S)} and not r.finished and ${OPEN}
       ), errors as (
         select distinct on (host) host, error_code, error_msg from waiting where failed_attempts > 0
       ), late as materialized (
         select w.request, w.position, e.error_code, e.error_msg from waiting w join errors e using (host)
          where w.host = any($1::text[]) and (w.failed_attempts > 0 or w.host = any($5::text[]))
             or w.failed_attempts > 0 and w.state = 'queued'
                and w.available_at > now() + $4::float8 * interval '1 millisecond'
       )
       update ${S}.operations o
          set state = 'failed', available_at = null, error_code = coalesce(o.error_code, late.error_code),
              error_msg = coalesce(o.error_msg, late.error_msg)
         from late where o.request = late.request and o.position = late.position and ${OPEN}
       returning o.request, o.error_code as code`,
      [hosts, first, last, left, silent],
    );
    if (rows.length === 0) return false;
    const codes = rows.map(({ code }) => code);
    await countFailures(tx, S, codes);
    await finishRequests(tx, collection, [...new Set(rows.map(({ request }) => request))]);
    return true;
  });
  if (failed) store.events.notify(collection.id);
}
