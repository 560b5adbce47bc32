import { held } from './jest-setup.ts';

/** jest's `globalTeardown`: stops the services that the run started. */
export default async function tearDown(): Promise<void> {
  await held.broker?.[Symbol.asyncDispose]();
}
