/** How much more often `npm run chaos` kills and breaks parts than a run of all tests does. */
const FACTOR = Number(process.env.AKIN_CHAOS ?? 1);

/** A number of kills or faults, few in a run of all tests and many in `npm run chaos`; or the time that they may take. */
export function scaledByChaos(few: number): number {
  return Math.ceil(few * FACTOR);
}
