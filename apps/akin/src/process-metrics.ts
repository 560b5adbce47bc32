import { statfs } from 'node:fs/promises';
import type { Queue } from '@akin/queue';
import { type Logger, type Metrics, withTimeout } from '@akin/runtime';
import { createMetrics } from '@akin/runtime/observability';
import type { Store } from '@akin/store/changes';
import { akinVersion } from './version.ts';

/** A server that hangs does not count as up. */
const QUEUE_TIMEOUT_MILLISECONDS = 2_000;

/** @param name such as `akin gateway` */
export function createProcessMetrics(name: string): Metrics {
  const metrics = createMetrics();
  const labels = { process: name, version: akinVersion(), node: process.versions.node };
  metrics.gauges('akin_build_info', 'Version of akin and of Node', ['process', 'version', 'node'], async () => [
    { labels, value: 1 },
  ]);
  return metrics;
}

/** Reports how the pool of connections to PostgreSQL is used. Nothing on the embedded database. */
export function reportPoolUse(metrics: Metrics, { engine }: Store): void {
  const use = engine.poolUse();
  if (use === undefined) return;
  metrics.gauges('akin_pool_connections', 'Connections to PostgreSQL, by state', ['state'], async () => {
    const { total = 0, idle = 0 } = engine.poolUse() ?? {};
    return [
      { labels: { state: 'busy' }, value: total - idle },
      { labels: { state: 'idle' }, value: idle },
    ];
  });
  metrics.gauge(
    'akin_pool_waiting',
    'Requests that wait for a connection to PostgreSQL',
    () => engine.poolUse()?.waiting ?? 0,
  );
}

export function reportSearchMemory(metrics: Metrics, { inMemory }: Store): void {
  metrics.gauge(
    'akin_searcher_bytes',
    'Memory of vectors and filters of searched collections',
    () => inMemory.use.bytes,
  );
  metrics.gauge('akin_searcher_limit_bytes', 'Maximum memory of vectors and filters', () => inMemory.use.limit);
}

/** Reports the outcome of reads from standbys, and their lag. Nothing if there are none. */
export function reportStandbys(metrics: Metrics, { standbys }: Store, log: Logger): void {
  if (standbys.count === 0) return;
  standbys.watch(({ name, state, reason }) => {
    if (state === 'away') log.warn({ standby: name, cause: reason }, 'a standby is left out: the primary is searched');
    else if (state === 'behind')
      log.warn({ standby: name, cause: reason }, 'a standby stays behind: the primary is searched');
    else log.info({ standby: name }, 'a standby is searched');
  });
  const reads = metrics.counter(
    'akin_standby_reads_total',
    'Reads from a standby, by outcome: answered, or repeated on the primary because the standby was behind, cancelled them or failed',
    ['standby', 'result'],
  );
  standbys.listen((standby, result) => reads.inc({ standby, result }));
  let looking: ReturnType<typeof standbys.lags> | undefined;
  const lags = () => {
    looking ??= standbys.lags().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  metrics.gauges('akin_standby_up', '1 if a standby answers and is not behind', ['standby'], async () =>
    (await lags()).map(({ name, state }) => ({ labels: { standby: name }, value: state === 'used' ? 1 : 0 })),
  );
  metrics.gauges(
    'akin_standby_lag_bytes',
    'Bytes of the log of the primary that a standby has not replayed. NaN if it does not answer',
    ['standby'],
    async () =>
      (await lags()).map(({ name, lagBytes }) => ({ labels: { standby: name }, value: lagBytes ?? Number.NaN })),
  );
}

/** Reports the free space for the embedded database. NaN if the system does not report it. */
export function reportDisk(metrics: Metrics, dataFolder: string): void {
  metrics.gauge('akin_disk_free_bytes', 'Free bytes on the disk of the embedded database', () =>
    statfs(dataFolder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => Number.NaN,
    ),
  );
}

export function reportQueueUp(metrics: Metrics, queue: Pick<Queue, 'counts'>, server: string): void {
  metrics.gauges('akin_queue_up', '1 if the server of the queue answers', ['server'], async () => {
    const up = await withTimeout(QUEUE_TIMEOUT_MILLISECONDS, queue.counts('analyze')).then(
      () => 1,
      () => 0,
    );
    return [{ labels: { server }, value: up }];
  });
}
