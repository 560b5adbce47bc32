import { setTimeout as delay } from 'node:timers/promises';

/** `npm run chaos` kills and breaks parts this many times as often as a normal test run. */
const FACTOR = Number(process.env.AKIN_CHAOS ?? 1);

/** Scales a number of kills or faults, or the time for them: small in a normal test run, large in `npm run chaos`. */
export function scaledByChaos(few: number): number {
  return Math.ceil(few * FACTOR);
}

/**
 * Waits before the next request of a client that loads a fleet or watches it. In a normal test run the clients leave
 * most of the processor to the processes of the fleet, which then start and recover sooner; `npm run chaos` asks more.
 */
export async function pauseClient(milliseconds = 50): Promise<void> {
  await delay(milliseconds / FACTOR);
}
