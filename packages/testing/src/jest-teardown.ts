import { held } from './jest-setup.ts';

/** How long the run may take to end by itself. */
const GRACE_MILLISECONDS = 5_000;

/** jest's `globalTeardown`: stops the services that the run started. */
export default async function tearDown(): Promise<void> {
  await held.broker?.[Symbol.asyncDispose]();
  // A failed test may leave a connection open, which must not keep the run from ending. Nothing open, no waiting.
  setTimeout(() => {
    console.error('A test left something open; the run is ended all the same.');
    process.exit();
  }, GRACE_MILLISECONDS).unref();
}
