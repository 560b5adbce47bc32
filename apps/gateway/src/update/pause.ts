/** The event loop is held so long at most: other requests wait no longer for their turn. */
const SLICE_MILLISECONDS = 8;

/** To be awaited after every small piece of a long work: lets other requests have their turn when it is time. */
export function createPause(): () => Promise<void> | undefined {
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
