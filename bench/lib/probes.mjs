/** Interval between requests of one kind. It does not depend on whether the last one was answered. */
const EVERY_MILLISECONDS = 1_000;
const TICK_MILLISECONDS = 2;

/**
 * Sends requests at fixed times until it is stopped. A server that stalls gets no fewer requests, and latency counts
 * from the scheduled time (no coordinated omission).
 *
 * @param {Record<string, () => Promise<unknown>>} probes
 * @returns {() => Promise<Record<string, number[]>>} a function that stops the requests and returns the milliseconds of
 *   each kind
 */
export function startProbes(probes) {
  const times = Object.fromEntries(Object.keys(probes).map((name) => [name, []]));
  const kinds = Object.entries(probes);
  const open = new Set();
  const from = performance.now();
  let sent = 0;
  // The kinds take turns at equal intervals.
  const step = EVERY_MILLISECONDS / kinds.length;
  const timer = setInterval(() => {
    for (; from + sent * step <= performance.now(); sent++) {
      const due = from + sent * step;
      const [name, ask] = kinds[sent % kinds.length];
      const asked = ask().then(() => {
        times[name].push(performance.now() - due);
        open.delete(asked);
      });
      open.add(asked);
    }
  }, TICK_MILLISECONDS);
  return async () => {
    clearInterval(timer);
    await Promise.all(open);
    return times;
  };
}
