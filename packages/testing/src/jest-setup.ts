import { chmod, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { openBroker } from './broker.ts';
import { testFolder } from './files-folder.ts';

/** Resources that the run keeps until its tear-down. */
export const held: { broker?: AsyncDisposable; folder?: string } = {};

/** jest's `globalSetup`: see {@link openBroker} and {@link testFolder}. */
export default async function setUp(): Promise<void> {
  // A killed run leaves it: the next one removes folders of this name.
  held.folder = await mkdtemp(join(testFolder(), `akin-tests-${process.pid}-`));
  // As /tmp: for everything that tests and their processes create, under any user.
  await chmod(held.folder, 0o1777);
  process.env.TMPDIR = held.folder;
  held.broker = await openBroker();
}
