import { AkinError } from '@akin/domain';
import { createWorkerServer, type Gateway, type WorkerServerConfig } from '@akin/gateway';

const RETRY_AFTER_SECONDS = 2;

export function notReady(reason: string): AkinError {
  return new AkinError('unavailable', reason, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/**
 * Listens while the store is opened, which takes long on a busy machine after a kill: clients learn why they have to
 * wait, and a port in use is noticed before the database is opened. Disposing it frees the port.
 *
 * @param reason why it is not ready, now
 */
export function answerWhileStarting(
  config: Omit<WorkerServerConfig, 'ready' | 'fallback'>,
  reason: () => string,
): Promise<Gateway> {
  const closed = () => notReady(reason());
  return createWorkerServer({ ...config, ready: () => Promise.reject(closed()), fallback: closed });
}
