import type { Log } from './logger.ts';

/** One step of a shutdown: stop taking work, drain, close. */
export interface ShutdownPhase {
  readonly name: string;
  /** How long it may take; then the next phase begins all the same. */
  readonly milliseconds: number;
  readonly work: () => Promise<unknown>;
}

/**
 * Runs the phases in order, each within its time. A phase that fails or takes too long is logged and keeps no later
 * one from running.
 *
 * @returns whether all phases ended well
 */
export async function shutDown(log: Pick<Log, 'info' | 'error'>, phases: readonly ShutdownPhase[]): Promise<boolean> {
  let clean = true;
  for (const { name, milliseconds, work } of phases) {
    const from = performance.now();
    try {
      await within(milliseconds, work());
      log.info({ phase: name, milliseconds: Math.round(performance.now() - from) }, 'shutdown phase done');
    } catch (err) {
      clean = false;
      log.error({ phase: name, err }, 'shutdown phase failed');
    }
  }
  return clean;
}

/** @throws Error when the work takes longer; the work itself goes on. */
async function within<Value>(milliseconds: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
