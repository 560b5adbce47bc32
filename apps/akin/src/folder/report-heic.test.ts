import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { reportHeic } from './report-heic.ts';

it('says how many HEIC photos a folder contains, before it is indexed, unless they can be read', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'akin-heic-'));
  const said: string[] = [];
  const report = (canRead: boolean) =>
    reportHeic([folder], (line) => said.push(line), new AbortController().signal, canRead);
  try {
    await mkdir(path.join(folder, 'phone'));
    for (const name of ['a.jpg', 'b.HEIC', 'phone/c.heif', 'notes.heic.txt'])
      await writeFile(path.join(folder, name), 'x');
    await report(true);
    expect(said).toEqual([]);
    await report(false);
    expect(said).toEqual([
      expect.stringMatching(/^2 HEIC files.*npm install --prefix \.\. --ignore-scripts heic-decode/),
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
