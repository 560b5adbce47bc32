import type { Log } from './logger.ts';
import { withTimeout } from './with-timeout.ts';

/** One step of a shutdown: stop accepting work, drain, close. */
export interface ShutdownPhase {
  readonly name: string;
  /** The time reserved for this phase, however long the phases before it take. */
  readonly milliseconds: number;
  readonly work: () => Promise<unknown>;
}

/**
 * Runs the phases in order until one deadline. Each may use the remaining time except what is reserved for later
 * phases. A phase that fails or takes longer is logged and does not prevent later ones.
 *
 * @param milliseconds the time of all phases together, at least the sum of the reserved times
 * @returns whether all phases ended well
 */
export async function shutDown(
  log: Pick<Log, 'info' | 'error'>,
  phases: readonly ShutdownPhase[],
  milliseconds: number,
): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  let reserved = phases.reduce((sum, phase) => sum + phase.milliseconds, 0);
  let clean = true;
  for (const { name, milliseconds: own, work } of phases) {
    const from = performance.now();
    reserved -= own;
    try {
      await withTimeout(Math.max(0, Math.round(deadline - reserved - from)), work());
      log.info({ phase: name, milliseconds: Math.round(performance.now() - from) }, 'shutdown phase done');
    } catch (err) {
      clean = false;
      log.error({ phase: name, err }, 'shutdown phase failed');
    }
  }
  return clean;
}
