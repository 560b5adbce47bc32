/** At most: linear work rarely needs more than two, but garbage of other work may be collected in any of them. */
const ROUNDS = 10;

/**
 * How much more processor time the work takes for an input four times as large: about 4 if the time is linear, 16 if it
 * is quadratic. {@link LINEAR} lies between, far from both. Processor time ignores other processes, but switching
 * between them adds some. So this takes the minimum of several rounds, which alternate between the two sizes.
 *
 * @param work gets the size; one call should take some milliseconds
 */
export async function growth(work: (size: number) => unknown, size: number): Promise<number> {
  const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, times] of [1, 4].entries()) {
      least[i] = Math.min(least[i] as number, await processorTime(() => work(size * times)));
    }
    // The first round includes compilation. If a later round is linear, no more are needed.
    if (round > 0 && ratioOf(least) < LINEAR) break;
  }
  return ratioOf(least);
}

function ratioOf([once = 0, fourfold = 0]: readonly number[]): number {
  return fourfold / Math.max(once, MIN_MILLISECONDS);
}

/** Shorter work is lost in noise; four times this is still far from quadratic growth. */
const MIN_MILLISECONDS = 2;

/** Milliseconds of processor time that this process spends on some work, in all its threads. */
export async function processorTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** {@link growth} of linear work stays below this. */
export const LINEAR = 9;
