import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { Sidecars } from './sidecars.ts';

it('reads the small files beside a picture that describe it', async () => {
  const folder = await fs.mkdtemp(path.join(tmpdir(), 'akin-sidecars-'));
  try {
    await fs.writeFile(path.join(folder, 'a.jpg.json'), '{}');
    await fs.writeFile(path.join(folder, 'a.xmp'), '<x/>');
    await fs.writeFile(path.join(folder, 'b.xmp'), Buffer.alloc(1_000_001));
    await fs.mkdir(path.join(folder, 'c.xmp'));
    const sidecars = new Sidecars();
    const namesOf = async (name: string) => (await sidecars.of(path.join(folder, name))).map((one) => one.name);
    expect(await namesOf('a.jpg')).toEqual(['a.xmp', 'a.jpg.json']);
    for (const other of ['b.jpg', 'c.jpg', 'd.jpg', 'gone/a.jpg']) expect(await namesOf(other)).toEqual([]);
  } finally {
    await fs.rm(folder, { recursive: true });
  }
});
