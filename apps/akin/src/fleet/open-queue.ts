import { AkinError } from '@akin/domain';
import {
  createPostgresQueue,
  createRedisQueue,
  QueueUnavailableError,
  type SharedQueue,
  type SharedQueueConfig,
} from '@akin/queue';

/** The server of the queue of analyses: Redis, or PostgreSQL if there is no Redis. */
export interface QueueServer {
  readonly name: 'Redis' | 'PostgreSQL';
  readonly url: string;
  readonly prefix: string;
}

/**
 * @throws AkinError unavailable while the server does not answer; conflict for every other error, for example if the
 * settings of the server would lose jobs
 */
export async function openQueue(
  server: QueueServer,
  config: Pick<SharedQueueConfig, 'contract' | 'log' | 'name'>,
): Promise<SharedQueue> {
  const { name, url, prefix } = server;
  const create = name === 'Redis' ? createRedisQueue : createPostgresQueue;
  try {
    return await create({ url, prefix, ...config });
  } catch (cause) {
    const code = cause instanceof QueueUnavailableError ? 'unavailable' : 'conflict';
    throw new AkinError(code, (cause as Error).message, { cause });
  }
}
