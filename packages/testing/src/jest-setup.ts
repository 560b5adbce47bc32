import { openBroker } from './broker.ts';

/** What the run holds until its tear-down. */
export const held: { broker?: AsyncDisposable } = {};

/** jest's `globalSetup`: see {@link openBroker}. */
export default async function setUp(): Promise<void> {
  held.broker = await openBroker();
}
