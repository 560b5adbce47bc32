/** Interval between requests of one kind, whether the last one was answered or not. */
const EVERY_MILLISECONDS = 1_000;
const TICK_MILLISECONDS = 2;

/**
 * Asks repeatedly until stopped, at fixed times: a server that stands still meets as many requests as one that
 * does not, and each counts from the moment at which it was due.
 *
 * @param {Record<string, () => Promise<unknown>>} probes
 * @returns {() => Promise<Record<string, number[]>>} stops; the milliseconds of each kind
 */
export function startProbes(probes) {
  const times = Object.fromEntries(Object.keys(probes).map((name) => [name, []]));
  const kinds = Object.entries(probes);
  const open = new Set();
  const from = performance.now();
  let sent = 0;
  // The kinds take turns, evenly spread.
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
