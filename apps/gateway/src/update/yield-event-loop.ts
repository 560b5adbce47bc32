/**
 * The event loop is held so long at most. A search has some six turns in it, one for each of its statements, and waits
 * so long before each.
 */
const SLICE_MILLISECONDS = 3;

/** To be awaited after every small piece of a long work: lets other requests have their turn when it is time. */
export function createYield(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MILLISECONDS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}
