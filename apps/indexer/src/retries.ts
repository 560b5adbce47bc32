/** Milliseconds before the next attempt for an image whose failure may be temporary: one entry per attempt. */
export const RETRY_AFTER: readonly number[] = [1_000, 5_000];

/**
 * Maximum number of attempts that may start. Those beyond the retries were lost with a queue or an analyzer, which is
 * rarely the fault of the image. So the number is large, and exists only to end endless loops.
 */
export const MAX_ATTEMPTS = 50;
