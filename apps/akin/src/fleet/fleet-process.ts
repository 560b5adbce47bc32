import { AkinError } from '@akin/domain';
import { createDoor, type DoorConfig, type Gateway } from '@akin/gateway';
import { createLogger, createMetrics, type Logger, type Metrics, sleep } from '@akin/runtime';
import type { Parsed } from '../options.ts';
import { Parts } from '../parts.ts';
import { listenError } from '../serve.ts';
import { openTracing } from '../tracing.ts';
import { type ListenConfig, listenConfig } from './options.ts';

const RETRY_MILLISECONDS = 1_000;
/** Orchestrators kill after half a minute. */
const LAST_EXIT_MILLISECONDS = 25_000;
const RETRY_AFTER_SECONDS = 2;

/** What the parts of one process of a fleet are made with. */
export interface FleetProcess {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly parts: Parts;
  readonly listen: ListenConfig;
  /** Opens what another server is needed for; while that does not answer, waits, says so and tries again. */
  persist<Value>(what: string, open: () => Promise<Value>): Promise<Value>;
  /** Opens a door for as long as the process runs. */
  door(config: Pick<DoorConfig, 'analyze' | 'ready'>): Promise<Gateway>;
  /** What the process waits for, if it does. */
  waitsFor(): string | undefined;
}

/**
 * Runs one process of a fleet until the signal aborts: opens its parts, tells where it answers, and closes them in
 * order. Logs are JSON lines on standard error.
 *
 * @param open opens all parts; resolves with the address to tell
 * @returns the exit code
 */
export async function runFleetProcess(
  name: string,
  options: Parsed,
  signal: AbortSignal,
  open: (process: FleetProcess) => Promise<string>,
): Promise<number> {
  const log = createLogger({ name: `akin ${name}`, level: options.text('log-level') ?? 'info', pretty: false });
  const metrics = createMetrics();
  const listen = listenConfig(options);
  // However long the parts take to close.
  signal.addEventListener('abort', () => setTimeout(() => process.exit(0), LAST_EXIT_MILLISECONDS).unref());
  await using parts = new Parts(log, signal);
  await openTracing(`akin ${name}`, parts, log);
  let waiting: string | undefined;

  async function persist<Value>(what: string, openIt: () => Promise<Value>): Promise<Value> {
    let told = '';
    for (;;) {
      try {
        const value = await parts.unlessStopped(openIt());
        if (waiting !== undefined) log.info({ what }, 'goes on');
        waiting = undefined;
        return value;
      } catch (error) {
        if (!isPassing(error)) throw error;
        const { message } = error as Error;
        waiting = `Waits for ${what}: ${message}`;
        if (message !== told) log.warn({ what, reason: message }, 'waits');
        told = message;
      }
      await sleep(RETRY_MILLISECONDS, signal);
    }
  }

  const door = async (config: Pick<DoorConfig, 'analyze' | 'ready'>) =>
    parts.keep('door', await createDoor({ ...config, ...listen, log, metrics }));
  try {
    const url = await open({ log, metrics, parts, listen, persist, door, waitsFor: () => waiting });
    process.stdout.write(`akin ${name} answers at ${url}/\n`);
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

/** What `/health/ready` answers while something is in the way. */
export function notReady(reason: string): AkinError {
  return new AkinError('unavailable', reason, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function isPassing(error: unknown): boolean {
  return error instanceof AkinError && error.code === 'unavailable';
}
