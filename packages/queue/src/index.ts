export { createMemoryQueue } from './memory-queue.ts';
export type { AddOptions, Job, JobCounts, JobHandler, Queue, WorkOptions } from './queue.ts';
export { createRedisQueue, QueueUnavailableError, type RedisQueue, type RedisQueueConfig } from './redis-queue.ts';
