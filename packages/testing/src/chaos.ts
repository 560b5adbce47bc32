import { setTimeout as delay } from 'node:timers/promises';

/** 1 in `npm run test:all`, a third of it in `npm test`, and many times as much in `npm run chaos`. */
const FACTOR = Number(process.env.AKIN_CHAOS ?? 1 / 3);

/** Scales a number of kills, faults or random steps, which is that of `npm run test:all`. */
export function scaledByChaos(few: number): number {
  return Math.ceil(few * FACTOR);
}

/** Cases that only `npm run test:all` runs, because they are too dear for what they show. */
export function inFull<Case>(...cases: readonly Case[]): readonly Case[] {
  return process.env.AKIN_TESTS === 'rest' ? cases : [];
}

/**
 * Waits before the next request of a client that loads a fleet or watches it. In a test run the clients leave most of
 * the processor to the processes of the fleet, which then start and recover sooner; `npm run chaos` asks more.
 */
export async function pauseClient(milliseconds = 50): Promise<void> {
  await delay(milliseconds / Math.max(1, FACTOR));
}
