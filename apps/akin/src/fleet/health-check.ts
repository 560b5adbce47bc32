import { sleep } from '@akin/runtime';
import { type Peer, type PeerRequest, type PeerResponse, send } from './send.ts';

export interface HealthCheckTimes {
  /** A peer that takes longer to answer gets repeated health checks. */
  readonly probeAfterMilliseconds: number;
  /** A peer that does not answer a health check within this time hangs. */
  readonly probeMilliseconds: number;
  /** See {@link AddressesConfig}. */
  readonly pauseMilliseconds: number;
  readonly maxPauseMilliseconds: number;
}

export const HEALTH_CHECK_TIMES: HealthCheckTimes = {
  probeAfterMilliseconds: 2_000,
  probeMilliseconds: 3_000,
  pauseMilliseconds: 2_000,
  maxPauseMilliseconds: 30_000,
};

export class PeerError extends Error {
  override readonly name = 'PeerError';
  readonly outcome: 'failed' | 'hung';

  constructor(outcome: 'failed' | 'hung', message: string, cause?: unknown) {
    super(message, { cause });
    this.outcome = outcome;
  }
}

/**
 * Sends a request, and waits for the response as long as the process lives, however long that takes.
 *
 * @throws PeerError if it cannot be reached, closes the connection or does not answer health checks; the signal's
 * reason when it aborts
 */
export async function sendWhileHealthy(
  peer: Peer,
  sending: PeerRequest,
  times: HealthCheckTimes,
): Promise<PeerResponse> {
  const over = new AbortController();
  const hung = new AbortController();
  void watch(peer, times, over.signal).catch((error) => hung.abort(error));
  try {
    return await send(peer, { ...sending, signal: AbortSignal.any([sending.signal, hung.signal]) });
  } catch (error) {
    sending.signal.throwIfAborted();
    if (hung.signal.aborted) throw new PeerError('hung', 'it does not answer', hung.signal.reason);
    throw new PeerError('failed', (error as Error).message, error);
  } finally {
    over.abort();
  }
}

/** Rejects when the peer no longer lives. Resolves when the request is over. */
async function watch(peer: Peer, times: HealthCheckTimes, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await sleep(times.probeAfterMilliseconds, over).catch(() => {});
    if (!over.aborted) await requireHealthy(peer, times);
  }
}

/** Checks whether a process lives. A process answers this however busy it is. */
export async function requireHealthy(peer: Peer, { probeMilliseconds }: HealthCheckTimes): Promise<void> {
  const signal = AbortSignal.timeout(probeMilliseconds);
  const { status } = await send(peer, { method: 'GET', path: 'health/live', signal });
  if (status >= 500) throw new Error(`its health check answers ${status}`);
}
