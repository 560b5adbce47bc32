export { QueueUnavailableError, type SharedQueue, type SharedQueueConfig } from './bull-queue.ts';
export { createPostgresQueue } from './postgres-queue.ts';
export type { Job, JobCounts, Queue, WorkerHandle } from './queue.ts';
export { createRedisQueue } from './redis-queue.ts';
