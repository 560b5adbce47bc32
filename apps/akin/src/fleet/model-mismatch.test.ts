import { createRedisQueue, type SharedQueue } from '@akin/queue';
import { type TestRedis, testRedis } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { modelMismatch } from './model-mismatch.ts';

describe('an analyzer in a fleet with other models', () => {
  let redis: TestRedis;
  const queues: SharedQueue[] = [];
  const open = async (contract: string) => {
    const queue = await createRedisQueue({ url: redis.url, prefix: redis.prefix, contract });
    queues.push(queue);
    return queue;
  };

  beforeAll(async () => {
    redis = await testRedis();
  });
  afterAll(async () => {
    for (const queue of queues) await queue[Symbol.asyncDispose]();
    await redis.drop();
  });

  it('gets both names, until there is work for its own models', async () => {
    const analyzer = await open('content=akin-1');
    expect(await modelMismatch(analyzer, 'content=akin-1')).toBeUndefined();
    await (await open('content=akin-4')).announce();
    const reason = await modelMismatch(analyzer, 'content=akin-1');
    expect(reason).toContain('has the models content=akin-1; the fleet has work only for content=akin-4');
    await (await open('content=akin-1')).announce();
    expect(await modelMismatch(analyzer, 'content=akin-1')).toBeUndefined();
  });
});
