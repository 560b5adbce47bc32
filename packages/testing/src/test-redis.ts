import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { askBroker } from './broker.ts';

/** Keys of its own for a test file, on a Redis that other test files use too. */
export interface TestRedis {
  readonly url: string;
  /** Every key of the test begins with this. */
  readonly prefix: string;
  /** Removes the keys that begin with the prefix. */
  drop(): Promise<void>;
}

/** Gives a fresh prefix on a real Redis. */
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
