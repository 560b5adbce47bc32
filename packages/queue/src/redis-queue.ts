import { Queue as BullQueue } from 'bullmq';
import { Redis } from 'ioredis';
import { BackoffWorker } from './backoff-worker.ts';
import {
  createBullQueue,
  createErrorReporter,
  prefixOf,
  QueueUnavailableError,
  type SharedQueue,
  type SharedQueueConfig,
} from './bull-queue.ts';

/**
 * A connection without a reply for this time is replaced: the machine of Redis may be gone. Otherwise the system would
 * wait for it for a quarter of an hour. BullMQ's workers wait for a job for at most 10 seconds.
 */
const SILENT_MILLISECONDS = 15_000;

/** Redis allows no spaces in the name of a connection. */
const SPACE = '|';

/**
 * A queue on Redis (`redis://…` or `rediss://…`), for several processes of akin. Redis may be stopped or wiped: then
 * the jobs are lost, and the process that keeps the state adds them again.
 *
 * @throws QueueUnavailableError when Redis does not answer, or refuses the connection; Error when Redis is configured
 * to evict keys, because it would delete jobs when its memory is full
 */
export async function createRedisQueue(config: SharedQueueConfig): Promise<SharedQueue> {
  const prefix = prefixOf(config);
  const report = createErrorReporter(config.log, 'Redis');
  // `add` must fail immediately when Redis is down, because a request waits for it; workers wait until Redis is back.
  const producer = await connect(
    config.url,
    { maxRetriesPerRequest: 1, enableOfflineQueue: false, socketTimeout: SILENT_MILLISECONDS },
    report,
  );
  const explain = (error: unknown) => (producer.status === 'ready' ? error : unavailableError(config.url, error));
  try {
    await requireNoEviction(producer);
  } catch (error) {
    const explained = explain(error);
    // Its process could not end otherwise.
    producer.disconnect();
    throw explained;
  }
  const forWorkers = producer.duplicate({ maxRetriesPerRequest: null, enableOfflineQueue: true });
  forWorkers.on('error', report);
  const contracts = `${config.prefix ?? 'akin'}:contracts`;

  return createBullQueue(
    {
      openQueue: async (jobs) => new BullQueue(jobs, { connection: producer, prefix, skipWaitingForReady: true }),
      createWorker: (jobs, process, settings) =>
        new BackoffWorker(jobs, process, {
          connection: forWorkers,
          prefix,
          ...settings,
          ...(config.name === undefined ? {} : { name: config.name.replaceAll(' ', SPACE) }),
        }),
      isConnected: () => producer.status === 'ready' && forWorkers.status === 'ready',
      async liveJobs(queue, ids) {
        const asking = producer.pipeline();
        for (const id of ids) asking.exists(queue.toKey(id)).zscore(queue.toKey('failed'), id);
        const replies = (await asking.exec()) ?? [];
        const alive = new Set<string>();
        for (const [i, id] of ids.entries()) {
          const [broken, exists] = replies[2 * i] ?? [];
          const [, failed] = replies[2 * i + 1] ?? [];
          if (broken) throw broken;
          if (exists === 1 && failed === null) alive.add(id);
        }
        return alive;
      },
      async announce(contract) {
        await producer.zadd(contracts, Date.now(), contract);
      },
      announcedContracts: (milliseconds) => producer.zrangebyscore(contracts, Date.now() - milliseconds, '+inf'),
      async workers(queue) {
        const now = Date.now();
        return (await queue.getWorkers()).flatMap(({ rawname, addr, age }) => {
          const [, name] = /:w:(.+)$/.exec(rawname ?? '') ?? [];
          if (name === undefined || addr === undefined) return [];
          const address = addr.replace(/:\d+$/, '');
          return [{ name: name.replaceAll(SPACE, ' '), address, connectedAt: new Date(now - Number(age) * 1_000) }];
        });
      },
      explain,
      async close() {
        forWorkers.disconnect();
        producer.disconnect();
      },
    },
    config,
    report,
  );
}

async function connect(
  url: string,
  options: { maxRetriesPerRequest: number; enableOfflineQueue: boolean; socketTimeout: number },
  report: (error: Error) => void,
): Promise<Redis> {
  const redis = new Redis(url, { ...options, reconnectOnError: isDemoted, lazyConnect: true });
  redis.on('error', report);
  // `connect` rejects with `Connection is closed` only.
  let reason: Error | undefined;
  redis.once('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    // A Redis that is still loading its files accepts connections but answers no commands.
    await redis.ping();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw unavailableError(url, reason ?? error);
  }
}

/** Whether the server became a replica. Its address may meanwhile belong to the new primary. */
function isDemoted({ message }: Error): boolean {
  return message.includes('READONLY');
}

function unavailableError(url: string, cause: unknown): QueueUnavailableError {
  const { host } = new URL(url);
  if (cause instanceof Error && cause.name === 'ReplyError') {
    return new QueueUnavailableError(`Redis at ${host} refuses the connection: ${cause.message}`, { cause });
  }
  return new QueueUnavailableError(`Redis at ${host} does not answer: start it, or name another one`, { cause });
}

async function requireNoEviction(redis: Redis): Promise<void> {
  const policy = /maxmemory_policy:(\S+)/.exec(await redis.info('memory'))?.[1] ?? 'noeviction';
  if (policy === 'noeviction') return;
  throw new Error(
    `Redis would delete jobs when it is full (maxmemory-policy ${policy}): set maxmemory-policy noeviction`,
  );
}
