import { AkinError } from '@akin/domain';
import { createRedisQueue, QueueUnavailableError, type RedisQueue, type RedisQueueConfig } from '@akin/queue';

/** @throws AkinError unavailable while Redis does not answer; conflict when its settings would lose jobs */
export async function openQueue(config: RedisQueueConfig): Promise<RedisQueue> {
  try {
    return await createRedisQueue(config);
  } catch (cause) {
    const code = cause instanceof QueueUnavailableError ? 'unavailable' : 'conflict';
    throw new AkinError(code, (cause as Error).message, { cause });
  }
}
