const RETRY_AFTER: readonly number[] = [1_000, 5_000];
/** A host that asks for more gets this. */
const MAX_RETRY_AFTER = 600_000;

/**
 * Milliseconds before the next attempt for an image whose failure may be temporary: one entry per attempt.
 *
 * @param asked seconds that its host asks to wait
 */
export function retryDelays(asked = 0): number[] {
  return RETRY_AFTER.map((delay) => Math.min(Math.max(delay, asked * 1_000), MAX_RETRY_AFTER));
}

/**
 * Maximum number of attempts that may start. Those beyond the retries were lost with a queue or an analyzer, which is
 * rarely the fault of the image. So the number is large, and exists only to end endless loops.
 */
export const MAX_ATTEMPTS = 50;
