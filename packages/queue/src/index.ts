export { createMemoryQueue } from './memory-queue.ts';
export type { AddOptions, Job, JobCounts, JobHandler, Queue, WorkOptions } from './queue.ts';
export { createRedisQueue, type RedisQueueConfig } from './redis-queue.ts';
