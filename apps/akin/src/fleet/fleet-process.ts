import { hostname } from 'node:os';
import { AkinError } from '@akin/domain';
import { createWorkerServer, type Gateway, type WorkerServerConfig } from '@akin/gateway';
import { causeFields, type Logger, type Metrics, type ProcessName, sleep } from '@akin/runtime';
import { createLogger } from '@akin/runtime/observability';
import { describeAddress } from '../http-address.ts';
import type { ParsedOptions } from '../options.ts';
import { createProcessMetrics } from '../process-metrics.ts';
import { listenError } from '../serve.ts';
import { ShutdownStack } from '../shutdown-stack.ts';
import { openTracing } from '../tracing.ts';
import { akinVersion } from '../version.ts';
import { type ListenConfig, listenConfig } from './options.ts';

const RETRY_MILLISECONDS = 1_000;
/** At shutdown, open requests of a process that is not a gateway have this time. */
const OPEN_REQUESTS_MILLISECONDS = 2_000;
/** Time from the deadline of the parts until the process ends in any case. */
const LAST_EXIT_MILLISECONDS = 300;

export interface FleetProcess {
  readonly name: ProcessName;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly parts: ShutdownStack;
  readonly listen: ListenConfig;
  /**
   * Opens something that needs another server. While that server does not answer, it waits, logs this and tries again.
   */
  retry<Value>(what: string, open: () => Promise<Value>): Promise<Value>;
  /**
   * Keeps a server that answers requests as long as the process runs, and drains it when the process is to end.
   * @param openMilliseconds time limit of its open requests, in addition to the few seconds in which all parts close
   */
  serveUntilShutdown(server: Gateway, openMilliseconds?: number): Gateway;
  /** Opens an HTTP server for a process that is not a gateway, and keeps it. */
  openServer(config: Pick<WorkerServerConfig, 'analyze' | 'ready' | 'httpReady' | 'limits'>): Promise<Gateway>;
  waitingFor(): string | undefined;
}

/**
 * Runs one process of a fleet until the signal aborts: opens its parts, prints its URL, and closes the parts in order.
 * Logs are JSON lines on standard error.
 *
 * @param open opens all parts; resolves with the URL to print
 * @returns the exit code
 */
export async function runFleetProcess(
  name: string,
  options: ParsedOptions,
  signal: AbortSignal,
  open: (process: FleetProcess) => Promise<string>,
): Promise<number> {
  const processName = { role: name, version: akinVersion(), host: hostname(), pid: process.pid };
  const log = createLogger({ name: `akin ${name}`, level: options.text('log-level') ?? 'info', pretty: false });
  const metrics = createProcessMetrics(`akin ${name}`);
  const listen = listenConfig(options);
  const { shutdownDelayMilliseconds } = listen;
  await using parts = new ShutdownStack(log, signal);
  // Ends the process even if something keeps the parts from closing, for example a part that is still being opened.
  signal.addEventListener('abort', () =>
    setTimeout(() => process.exit(0), parts.closeMilliseconds + LAST_EXIT_MILLISECONDS).unref(),
  );
  await openTracing(`akin ${name}`, parts, log);
  let waiting: string | undefined;

  async function retry<Value>(what: string, openIt: () => Promise<Value>): Promise<Value> {
    let lastLogged = '';
    for (;;) {
      try {
        const value = await parts.unlessStopped(openIt());
        if (waiting !== undefined) log.info({ what }, 'continues');
        waiting = undefined;
        return value;
      } catch (error) {
        if (!isTransient(error)) throw error;
        const { message } = error as Error;
        waiting = `Waiting for ${what}: ${message}`;
        const fields = { what, reason: message, ...causeFields(error) };
        const logged = JSON.stringify(fields);
        if (logged !== lastLogged) log.warn(fields, 'waits');
        lastLogged = logged;
      }
      await sleep(RETRY_MILLISECONDS, signal);
    }
  }

  const serveUntilShutdown = (one: Gateway, openMilliseconds = 0) => {
    // Immediately: other parts close before it, while it waits.
    signal.addEventListener('abort', () => void one.drain(), { once: true });
    return parts.use('server', one, shutdownDelayMilliseconds + openMilliseconds);
  };
  const openServer = async (config: Pick<WorkerServerConfig, 'analyze' | 'ready' | 'httpReady' | 'limits'>) =>
    serveUntilShutdown(
      await createWorkerServer({
        ...config,
        ...listen,
        log,
        metrics,
        limits: { ...config.limits, shutdownMilliseconds: OPEN_REQUESTS_MILLISECONDS },
      }),
    );
  try {
    const url = await open({
      name: processName,
      log,
      metrics,
      parts,
      listen,
      retry,
      serveUntilShutdown,
      openServer,
      waitingFor: () => waiting,
    });
    process.stdout.write(`akin ${name} answers at ${describeAddress(url)}\n`);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    throw listenError(error, listen) ?? error;
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof AkinError && error.code === 'unavailable';
}
