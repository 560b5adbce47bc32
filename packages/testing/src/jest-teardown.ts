import { held } from './jest-setup.ts';

/** Maximum time for the run to end normally. */
const GRACE_MILLISECONDS = 5_000;

/** jest's `globalTeardown`: stops the services that the run started. */
export default async function tearDown(): Promise<void> {
  await held.broker?.[Symbol.asyncDispose]();
  // A failed test may leave a connection open, which must not keep the process alive. If nothing is open, this timer
  // does not delay the end.
  setTimeout(() => {
    console.error('A test left something open; the run is ended all the same.');
    process.exit();
  }, GRACE_MILLISECONDS).unref();
}
