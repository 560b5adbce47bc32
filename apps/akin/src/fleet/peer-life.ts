import { sleep } from '@akin/runtime';
import type { CircuitTimes } from './circuit-breaker.ts';
import { type Peer, type Received, type Sending, send } from './send.ts';

export interface LifeTimes extends CircuitTimes {
  /** One that takes longer to answer is probed repeatedly. */
  readonly patienceMilliseconds: number;
  /** One that does not answer that within this time hangs. */
  readonly probeMilliseconds: number;
}

export const LIFE_TIMES: LifeTimes = {
  patienceMilliseconds: 2_000,
  probeMilliseconds: 3_000,
  openMilliseconds: 2_000,
  mostOpenMilliseconds: 30_000,
};

/** What another process did wrong, rather than what it was asked. */
export class PeerFailed extends Error {
  override readonly name = 'PeerFailed';
  readonly end: 'failed' | 'hung';

  constructor(end: 'failed' | 'hung', message: string, cause?: unknown) {
    super(message, { cause });
    this.end = end;
  }
}

/**
 * Sends a request, and waits for the answer as long as the process lives, however long that takes.
 *
 * @throws PeerFailed where it cannot be reached, breaks off or does not answer probes; the signal's reason when it aborts
 */
export async function sendWhileAlive(peer: Peer, sending: Sending, times: LifeTimes): Promise<Received> {
  const over = new AbortController();
  const hung = new AbortController();
  void watch(requireLife(times), peer, times, over.signal).catch((error) => hung.abort(error));
  try {
    return await send(peer, { ...sending, signal: AbortSignal.any([sending.signal, hung.signal]) });
  } catch (error) {
    sending.signal.throwIfAborted();
    if (hung.signal.aborted) throw new PeerFailed('hung', 'it does not answer', hung.signal.reason);
    throw new PeerFailed('failed', (error as Error).message, error);
  } finally {
    over.abort();
  }
}

/** Rejects when the peer no longer lives; resolves when it is over. */
async function watch(
  requireLife: (peer: Peer) => Promise<void>,
  peer: Peer,
  { patienceMilliseconds }: LifeTimes,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    await sleep(patienceMilliseconds, over).catch(() => {});
    if (!over.aborted) await requireLife(peer);
  }
}

/** Asks whether a process lives, which it answers however much it has to do. */
export function requireLife({ probeMilliseconds }: LifeTimes): (peer: Peer) => Promise<void> {
  return async (peer) => {
    const signal = AbortSignal.timeout(probeMilliseconds);
    const { status } = await send(peer, { method: 'GET', path: 'health/live', signal });
    if (status >= 500) throw new Error(`its health check answers ${status}`);
  };
}
