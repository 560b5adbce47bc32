import { rm } from 'node:fs/promises';
import { held } from './jest-setup.ts';
import { dropTemplates } from './test-database.ts';

/** Maximum time for the run to end normally. */
const GRACE_MILLISECONDS = 5_000;

/** jest's `globalTeardown`: stops the services that the run started, and removes its files. */
export default async function tearDown(): Promise<void> {
  if (held.broker && process.env.TEST_DATABASE_URL !== undefined) await dropTemplates();
  await held.broker?.[Symbol.asyncDispose]();
  if (held.folder) await rm(held.folder, { recursive: true, force: true });
  // A failed test may leave a connection open, which must not keep the process alive. If nothing is open, this timer
  // does not delay the end.
  setTimeout(() => {
    console.error('A test left something open; the run is ended all the same.');
    process.exit();
  }, GRACE_MILLISECONDS).unref();
}
