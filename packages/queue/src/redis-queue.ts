import { createHash } from 'node:crypto';
import { JOBS, type JobName, type JobPayload } from '@akin/contract';
import type { Log } from '@akin/runtime';
import { type Job as BullJob, Queue as BullQueue, Worker as BullWorker, UnrecoverableError } from 'bullmq';
import { Redis } from 'ioredis';
import { parsePayload, runAttempt } from './attempt.ts';
import { type AddOptions, FAILED_KEPT, type JobHandler, type Queue, type WorkOptions } from './queue.ts';
import { keepWorking, RETRY_MILLISECONDS } from './redis-worker.ts';

export interface RedisQueueConfig {
  /** `redis://…` or `rediss://…` */
  readonly url: string;
  /** Every key begins with it; processes that share it share their jobs. */
  readonly prefix?: string;
  /**
   * What the jobs are about, such as the models of the analysis: only processes that agree on it word for word share
   * jobs, so that no result of another model gets in.
   */
  readonly contract?: string;
  /** Told when the connection breaks; it is taken up again by itself. */
  readonly log?: Pick<Log, 'warn'>;
}

/** A queue whose processes can find out that they do not share jobs with anybody. */
export interface RedisQueue extends Queue {
  /** Tells that this process hands out jobs under its contract. To be repeated within a minute, for as long as it does. */
  announce(): Promise<void>;
  /** The contracts under which jobs were handed out during the last minute. */
  announced(): Promise<string[]>;
}

const ANNOUNCED_MILLISECONDS = 60_000;

/**
 * A job whose process was killed is given to another one within half a minute. Most jobs that a process has taken only
 * wait: one that is poison takes many innocent ones down with it, again and again, before it is given up.
 */
const STALLED = { lockDuration: 15_000, stalledInterval: 10_000, maxStalledCount: 10 } as const;

/** Redis does not answer now; it may later. */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
}

/** BullMQ runs jobs without a number before numbered ones. */
const PRIORITIES = { interactive: 0, bulk: 1 } as const;

/**
 * A queue on Redis, for parts of akin in several processes. Redis may be stopped or wiped: jobs are then lost, and who
 * keeps the state adds them again.
 *
 * @throws QueueUnavailableError when Redis does not answer; Error when it is set to evict keys: it would throw jobs away
 * when it is full.
 */
export async function createRedisQueue(config: RedisQueueConfig): Promise<RedisQueue> {
  const { url, contract } = config;
  const base = config.prefix ?? 'akin';
  const prefix = contract === undefined ? base : `${base}-${fingerprint(contract)}`;
  const report = reporter(config.log);
  // Adding must say at once that Redis is down, for the caller's request waits; workers wait for its return.
  const forAdding = await connect(url, { maxRetriesPerRequest: 1, enableOfflineQueue: false }, report);
  await requireNoEviction(forAdding);
  const forWorkers = forAdding.duplicate({ maxRetriesPerRequest: null, enableOfflineQueue: true });
  forWorkers.on('error', report);

  // All at once, while Redis answers: one whose first connection breaks never recovers.
  const queues = new Map<JobName, BullQueue>();
  for (const name of Object.keys(JOBS) as JobName[]) {
    const queue = new BullQueue(name, { connection: forAdding, prefix, skipWaitingForReady: true });
    queue.on('error', report);
    queues.set(name, queue);
    await queue.waitUntilReady();
  }
  const queueOf = (name: JobName) => queues.get(name) as BullQueue;
  const workers = new Set<AsyncDisposable>();
  let closed = false;
  const requireOpen = () => {
    if (closed) throw new Error('The queue is closed');
  };

  const counts = async (name: JobName) => {
    const { wait, prioritized, delayed, active, failed } = await queueOf(name).getJobCounts(
      ...(['wait', 'prioritized', 'delayed', 'active', 'failed'] as const),
    );
    return {
      waiting: (wait ?? 0) + (prioritized ?? 0),
      delayed: delayed ?? 0,
      active: active ?? 0,
      failed: failed ?? 0,
    };
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
        removeOnFail: { count: FAILED_KEPT },
      });
    },
    work<Name extends JobName>(name: Name, handler: JobHandler<Name>, { concurrency, onFailed }: WorkOptions<Name>) {
      requireOpen();
      const process = async (job: BullJob) => {
        let payload: JobPayload<Name>;
        try {
          payload = parsePayload(name, job.data);
        } catch (error) {
          throw new UnrecoverableError((error as Error).message);
        }
        await runAttempt(name, handler, { id: job.id ?? '', payload, attempt: job.attemptsMade + 1 });
      };
      const settings = {
        connection: forWorkers,
        prefix,
        concurrency,
        runRetryDelay: RETRY_MILLISECONDS,
        ...STALLED,
        autorun: false,
      };
      const worker = keepWorking(
        () => {
          const one = new BullWorker(name, process, settings);
          one.on('error', report);
          one.on('failed', (job, error) => {
            if (job?.id === undefined || job.finishedOn === undefined) return;
            const payload = JOBS[name].payload.safeParse(job.data);
            if (payload.success) onFailed?.({ id: job.id, payload: payload.data as JobPayload<Name> }, error);
            else config.log?.warn({ err: error, id: job.id }, 'a job does not fit the catalogue and is dropped');
          });
          return one;
        },
        () => forWorkers.status === 'ready',
        report,
      );
      workers.add(worker);
      return {
        async [Symbol.asyncDispose]() {
          workers.delete(worker);
          await worker[Symbol.asyncDispose]();
        },
      };
    },
    counts,
    async alive(name, ids) {
      if (ids.length === 0) return new Set();
      const queue = queueOf(name);
      const asking = forAdding.pipeline();
      for (const id of ids) asking.exists(queue.toKey(id)).zscore(queue.toKey('failed'), id);
      const answers = (await asking.exec()) ?? [];
      const alive = new Set<string>();
      for (const [i, id] of ids.entries()) {
        const [broken, exists] = answers[2 * i] ?? [];
        const [, failed] = answers[2 * i + 1] ?? [];
        if (broken) throw broken;
        if (exists === 1 && failed === null) alive.add(id);
      }
      return alive;
    },
    async announce() {
      await forAdding.zadd(`${base}:contracts`, Date.now(), contract ?? '');
    },
    announced: () => forAdding.zrangebyscore(`${base}:contracts`, Date.now() - ANNOUNCED_MILLISECONDS, '+inf'),
    async [Symbol.asyncDispose]() {
      closed = true;
      await Promise.all([...workers].map((worker) => worker[Symbol.asyncDispose]()));
      const closing = [...queues.values()].map((queue) => queue.close());
      if (forAdding.status === 'ready') await Promise.all(closing);
      else for (const one of closing) one.catch(report);
      forWorkers.disconnect();
      forAdding.disconnect();
    },
  };
}

/** Short enough for a key. */
function fingerprint(contract: string): string {
  return createHash('sha256').update(contract).digest('hex').slice(0, 12);
}

/** Says what broke, but not again and again while it stays so. */
function reporter(log: Pick<Log, 'warn'> | undefined): (error: Error) => void {
  let last = '';
  return (error) => {
    if (error.message !== last) log?.warn({ err: error }, 'the queue has trouble with Redis');
    last = error.message;
  };
}

async function connect(
  url: string,
  options: { maxRetriesPerRequest: number; enableOfflineQueue: boolean },
  report: (error: Error) => void,
): Promise<Redis> {
  const redis = new Redis(url, { ...options, lazyConnect: true });
  redis.on('error', report);
  try {
    await redis.connect();
    // A Redis that reads its files first connects, and answers nothing.
    await redis.ping();
    return redis;
  } catch (error) {
    redis.disconnect();
    const { host } = new URL(url);
    throw new QueueUnavailableError(`Redis at ${host} does not answer: start it, or name another one`, {
      cause: error,
    });
  }
}

async function requireNoEviction(redis: Redis): Promise<void> {
  const policy = /maxmemory_policy:(\S+)/.exec(await redis.info('memory'))?.[1] ?? 'noeviction';
  if (policy === 'noeviction') return;
  redis.disconnect();
  throw new Error(
    `Redis would throw jobs away when it is full (maxmemory-policy ${policy}): set maxmemory-policy noeviction`,
  );
}
