import { openBroker } from './broker.ts';

/** Resources that the run keeps until its tear-down. */
export const held: { broker?: AsyncDisposable } = {};

/** jest's `globalSetup`: see {@link openBroker}. */
export default async function setUp(): Promise<void> {
  held.broker = await openBroker();
}
