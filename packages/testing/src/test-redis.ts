import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { askBroker } from './broker.ts';

/** A separate key prefix for a test file, on a Redis that other test files use too. */
export interface TestRedis {
  readonly url: string;
  /** Prefix of every key of the test. */
  readonly prefix: string;
  /** Removes the keys that begin with the prefix. */
  drop(): Promise<void>;
}

/** Returns a new prefix on a real Redis. */
export async function testRedis(): Promise<TestRedis> {
  const url = await askBroker('redis');
  const prefix = `akin-test-${randomUUID()}`;
  return {
    url,
    prefix,
    async drop() {
      const redis = new Redis(url);
      for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1000 })) {
        if (keys.length > 0) await redis.unlink(keys);
      }
      await redis.quit();
    },
  };
}
