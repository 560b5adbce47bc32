import { createHash } from 'node:crypto';
import { JOBS, type JobName, type JobPayload } from '@akin/contract';
import type { Log } from '@akin/runtime';
import {
  type Job as BullJob,
  type Queue as BullQueue,
  type Worker as BullWorker,
  UnrecoverableError,
  type WorkerOptions,
} from 'bullmq';
import { parsePayload, runAttempt } from './attempt.ts';
import { type AddOptions, type JobHandler, MAX_FAILED_JOBS, type Queue, type WorkOptions } from './queue.ts';
import { RETRY_MILLISECONDS, superviseWorker } from './supervise-worker.ts';

export interface SharedQueueConfig {
  readonly url: string;
  /** Processes with the same prefix share jobs. Default: `akin`. */
  readonly prefix?: string;
  /**
   * What the jobs depend on, such as the models of the analysis. Only processes with exactly the same text share jobs,
   * so that no process stores a result of another model.
   */
  readonly contract?: string;
  /** The name of the process: the application name of its connections in PostgreSQL, that of its workers on Redis. */
  readonly name?: string;
  /** Gets a warning when the connection breaks. The queue reconnects automatically. */
  readonly log?: Pick<Log, 'warn'>;
}

interface QueueWorker {
  /** {@link SharedQueueConfig.name} of the process. */
  readonly name: string;
  readonly address: string;
  readonly connectedAt: Date;
}

/** A queue of several processes, which can detect that it shares jobs with no other process. */
export interface SharedQueue extends Queue {
  /** Announces that this process adds jobs under its version of the job contract. Repeat the call every minute. */
  announce(): Promise<void>;
  /** The versions of the job contract that were used during the last minute. */
  announcedContracts(): Promise<string[]>;
  /**
   * The processes that handle the jobs of a name, as the server of the queue sees their connections. Empty on
   * PostgreSQL, which lists connections itself, and where a service of Redis does not list them.
   */
  workers(name: JobName): Promise<QueueWorker[]>;
}

/** The server of a queue does not answer now; it may answer later. */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}

/**
 * The differences between the servers on which BullMQ keeps its jobs. All methods reject while the server is
 * unavailable.
 */
export interface BullServer {
  /** @param jobs name of the jobs, which are kept below `prefix` */
  openQueue(jobs: JobName): Promise<BullQueue>;
  createWorker(jobs: JobName, process: (job: BullJob) => Promise<void>, settings: WorkerSettings): BullWorker;
  isConnected(): boolean;
  /** Returns those of the given ids whose jobs exist and have not failed permanently. */
  liveJobs(queue: BullQueue, ids: readonly string[]): Promise<ReadonlySet<string>>;
  announce(contract: string): Promise<void>;
  /** @param milliseconds maximum age of the announcements */
  announcedContracts(milliseconds: number): Promise<string[]>;
  workers(queue: BullQueue): Promise<QueueWorker[]>;
  /** The error to report for one of opening: a `QueueUnavailableError` if the server went away meanwhile. */
  explain(error: unknown): unknown;
  close(): Promise<void>;
}

type WorkerSettings = Omit<WorkerOptions, 'connection' | 'prefix'>;

const ANNOUNCED_MILLISECONDS = 60_000;

/**
 * A job whose process was killed is given to another process within half a minute. A job that crashes its process
 * stalls all jobs that this process has taken, most of which only wait. So a job is given up only after many crashes.
 */
const STALLED_SETTINGS = { lockDuration: 15_000, stalledInterval: 10_000, maxStalledCount: 10 } as const;

/** BullMQ runs jobs with the priority 0 before all others. */
const PRIORITIES = { interactive: 0, bulk: 1 } as const;

/**
 * Creates a queue on BullMQ. `server` contains the differences between servers. Disposing the queue also closes the
 * server; so does an error of opening.
 */
export async function createBullQueue(
  server: BullServer,
  { contract, log }: Pick<SharedQueueConfig, 'contract' | 'log'>,
  report: (error: Error) => void,
): Promise<SharedQueue> {
  // Open all queues at the same time, while the server answers: a queue whose first connection breaks never recovers.
  const queues = new Map<JobName, BullQueue>();
  const close = async () => {
    const closing = [...queues.values()].map((queue) => queue.close());
    if (server.isConnected()) await Promise.all(closing);
    else for (const one of closing) one.catch(report);
    await server.close();
  };
  try {
    for (const name of Object.keys(JOBS) as JobName[]) {
      const queue = await server.openQueue(name);
      queue.on('error', report);
      queues.set(name, queue);
      await queue.waitUntilReady();
    }
  } catch (error) {
    const explained = server.explain(error);
    await close();
    throw explained;
  }
  const queueOf = (name: JobName) => queues.get(name) as BullQueue;
  const workers = new Set<AsyncDisposable>();
  let closed = false;
  const requireOpen = () => {
    if (closed) throw new Error('The queue is closed');
  };

  return {
    async add<Name extends JobName>(name: Name, payload: JobPayload<Name>, { id, priority }: AddOptions) {
      const checked = parsePayload(name, payload);
      requireOpen();
      await queueOf(name).add(name, checked, {
        jobId: id,
        attempts: JOBS[name].attempts,
        backoff: { type: 'exponential', delay: JOBS[name].backoff },
        priority: PRIORITIES[priority ?? 'interactive'],
        removeOnComplete: true,
        removeOnFail: { count: MAX_FAILED_JOBS[name] },
      });
    },
    work<Name extends JobName>(name: Name, handler: JobHandler<Name>, { concurrency, onFailed }: WorkOptions<Name>) {
      requireOpen();
      let handling = 0;
      const process = async (job: BullJob) => {
        let payload: JobPayload<Name>;
        try {
          payload = parsePayload(name, job.data);
        } catch (error) {
          throw new UnrecoverableError((error as Error).message);
        }
        handling++;
        try {
          await runAttempt(name, handler, { id: job.id ?? '', payload, attempt: job.attemptsMade + 1 });
        } finally {
          handling--;
        }
      };
      const settings = { runRetryDelay: RETRY_MILLISECONDS, ...STALLED_SETTINGS, autorun: false };
      let takesMore = true;
      let latest: BullWorker | undefined;
      const worker = superviseWorker(
        () => {
          const one = server.createWorker(name, process, { ...settings, concurrency: takesMore ? concurrency : 1 });
          latest = one;
          one.on('error', report);
          one.on('failed', (job, error) => {
            if (job?.id === undefined || job.finishedOn === undefined) return;
            const payload = JOBS[name].payload.safeParse(job.data);
            if (payload.success) {
              // BullMQ's error for a job that stalled too often. `process` throws it only for payloads that do not fit.
              const crashed = error instanceof UnrecoverableError;
              onFailed?.({ id: job.id, payload: payload.data as JobPayload<Name> }, error, crashed);
            } else log?.warn({ err: error, id: job.id }, 'a job does not fit the catalogue and is dropped');
          });
          return one;
        },
        server.isConnected,
        () => handling > 0,
        report,
      );
      workers.add(worker);
      return {
        allowConcurrency(more) {
          takesMore = more;
          if (latest) latest.concurrency = more ? concurrency : 1;
        },
        async [Symbol.asyncDispose]() {
          workers.delete(worker);
          await worker[Symbol.asyncDispose]();
        },
      };
    },
    async counts(name) {
      const { wait, prioritized, delayed, active, failed } = await queueOf(name).getJobCounts(
        ...(['wait', 'prioritized', 'delayed', 'active', 'failed'] as const),
      );
      return {
        waiting: (wait ?? 0) + (prioritized ?? 0),
        delayed: delayed ?? 0,
        active: active ?? 0,
        failed: failed ?? 0,
      };
    },
    async liveJobs(name, ids) {
      return ids.length === 0 ? new Set() : server.liveJobs(queueOf(name), ids);
    },
    announce: () => server.announce(contract ?? ''),
    announcedContracts: () => server.announcedContracts(ANNOUNCED_MILLISECONDS),
    workers: (name) => server.workers(queueOf(name)),
    async [Symbol.asyncDispose]() {
      closed = true;
      await Promise.all([...workers].map((worker) => worker[Symbol.asyncDispose]()));
      await close();
    },
  };
}

/** The prefix of the names of jobs. Each contract has a different prefix. */
export function prefixOf({ prefix = 'akin', contract }: Pick<SharedQueueConfig, 'prefix' | 'contract'>): string {
  if (contract === undefined) return prefix;
  return `${prefix}-${createHash('sha256').update(contract).digest('hex').slice(0, 12)}`;
}

/** An error that did not happen for this time is logged again: it is a new outage. Clients try again more often. */
const QUIET_MILLISECONDS = 60_000;

/** Logs an error once, and not again while the same error repeats. */
export function createErrorReporter(log: Pick<Log, 'warn'> | undefined, server: string): (error: Error) => void {
  let last: { readonly message: string; readonly at: number } | undefined;
  return (error) => {
    const isNew = last?.message !== error.message || Date.now() - last.at >= QUIET_MILLISECONDS;
    if (isNew) log?.warn({ err: error }, `the queue has trouble with ${server}`);
    last = { message: error.message, at: Date.now() };
  };
}
