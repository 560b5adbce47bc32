/**
 * Maximum time that a long computation may block the event loop. A search has about six steps in it, and waits up to
 * this long before each.
 */
const SLICE_MILLISECONDS = 1;

/** A function to be awaited after each small piece of a long computation: now and then it lets other requests run. */
export function createYielder(): () => Promise<void> | undefined {
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
