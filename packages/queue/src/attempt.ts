import { JOBS, type JobName, type JobPayload } from '@akin/contract';
import { withTimeout } from '@akin/runtime';
import type { Job, JobHandler } from './queue.ts';

export function parsePayload<Name extends JobName>(name: Name, payload: unknown): JobPayload<Name> {
  const result = JOBS[name].payload.safeParse(payload);
  if (result.success) return result.data as JobPayload<Name>;
  const issues = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`The payload of a job "${name}" does not fit: ${issues.join('; ')}`);
}

/** Milliseconds to wait before the next attempt. @param attempt the one that failed, from 1 */
export function backoffAfter(name: JobName, attempt: number): number {
  return JOBS[name].backoff * 2 ** (attempt - 1);
}

/**
 * Runs a handler within the time limit of the job catalogue, if there is one. A handler that takes longer keeps
 * running, but its result is ignored.
 */
export async function runAttempt<Name extends JobName>(
  name: Name,
  handler: JobHandler<Name>,
  job: Job<Name>,
): Promise<void> {
  const { timeout }: { timeout?: number } = JOBS[name];
  if (timeout === undefined) return handler(job);
  await withTimeout(timeout, handler(job), `The job "${name}" ${job.id} took longer than ${timeout} ms`);
}
