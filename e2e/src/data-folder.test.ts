import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runAkin, temporaryFolder } from './akin.ts';

describe('a data folder that cannot be used', () => {
  let place: Awaited<ReturnType<typeof temporaryFolder>>;
  let file: string;
  beforeAll(async () => {
    place = await temporaryFolder();
    file = path.join(place.folder, 'file');
    await writeFile(file, '');
  });
  afterAll(() => place.remove());

  const commands = [
    ['serve', '--port', '0', '--no-open'],
    ['index', '.', '--port', '1'],
    ['keys', 'list'],
    ['backup', '/dev/null'],
    ['restore', '/dev/null'],
  ];

  it.each(commands)('ends %s with the reason and what to do', async (...command) => {
    // Folders cannot be created in /proc; Node's recursive mkdir never ends there.
    const folders = [path.join(file, 'data'), ...(process.platform === 'linux' ? ['/proc/foo'] : [])];
    for (const folder of folders) {
      const { code, err } = await runAkin([...command, '--data', folder]);
      expect([code, err]).toEqual([1, expect.stringMatching(/^(The folder|There is no store in) \S+.*--data/s)]);
      expect(err).not.toContain('    at ');
    }
  });
});
