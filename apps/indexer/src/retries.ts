/** Milliseconds before an image is tried again whose failure may have passed: once for each entry. */
export const RETRY_AFTER: readonly number[] = [1_000, 5_000];

/**
 * Attempts that may begin at most. Those beyond the retries were lost with a queue or an analyzer, which is seldom the
 * fault of the image: a generous number, only there so that nothing goes on for ever.
 */
export const MOST_ATTEMPTS = 50;
