const ROUNDS = 3;

/**
 * How many times as much processor time work takes on an input that is four times as large: about 4 when it grows with
 * the length, 16 when with its square. {@link LINEAR} lies between, far from both. What else the machine does is not
 * counted, but that it takes turns with others costs some: hence the least of several rounds, at either size in turn.
 *
 * @param work gets the size; what it makes of an input should take some milliseconds
 */
export async function growth(work: (size: number) => unknown, size: number): Promise<number> {
  const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, times] of [1, 4].entries()) {
      least[i] = Math.min(least[i] as number, await processorTime(() => work(size * times)));
    }
    // The first round compiles. What is linear after it needs no further one.
    if (round > 0 && ratioOf(least) < LINEAR) break;
  }
  return ratioOf(least);
}

function ratioOf([once = 0, fourfold = 0]: readonly number[]): number {
  return fourfold / Math.max(once, LEAST_MILLISECONDS);
}

/** Work that takes less is lost in noise; four times that is far from quadratic growth. */
const LEAST_MILLISECONDS = 2;

/** Milliseconds of a processor that this process takes for some work, in all its threads. */
export async function processorTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** What {@link growth} stays below for work that grows with the length. */
export const LINEAR = 9;
