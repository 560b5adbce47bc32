export { QueueUnavailableError, type SharedQueue, type SharedQueueConfig } from './bull-queue.ts';
export { createPostgresQueue } from './postgres-queue.ts';
export type { AddOptions, Job, JobCounts, JobHandler, Queue, Working, WorkOptions } from './queue.ts';
export { createRedisQueue } from './redis-queue.ts';
