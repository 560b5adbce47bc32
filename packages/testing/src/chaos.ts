/** `npm run chaos` kills and breaks parts this many times as often as a normal test run. */
const FACTOR = Number(process.env.AKIN_CHAOS ?? 1);

/** Scales a number of kills or faults, or the time for them: small in a normal test run, large in `npm run chaos`. */
export function scaledByChaos(few: number): number {
  return Math.ceil(few * FACTOR);
}
