/** Milliseconds before an image is tried again whose failure may have passed: once for each entry. */
const RETRY_AFTER = [1_000, 5_000];

/**
 * Attempts that may begin at most. Those beyond the retries were lost with a queue or an analyzer, which is seldom the
 * fault of the image: a generous number, only there so that nothing goes on for ever.
 */
export const MOST_ATTEMPTS = 50;

/** When the attempt that follows this one, counted from 1, is due; undefined when there is to be none. */
export function nextAttemptAt(attempt: number): Date | undefined {
  const milliseconds = RETRY_AFTER[attempt - 1];
  return milliseconds === undefined ? undefined : new Date(Date.now() + milliseconds);
}
