import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Rejects } from './rejects.ts';

describe('the file of refused documents', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'akin-rejects-'));
    file = path.join(folder, 'rejects.ndjson');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('has a line for each', async () => {
    const rejects = await Rejects.open(file, false);
    rejects.add(17, '7', 'no number: "x"');
    await rejects.close();
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ line: 17, id: '7', reason: 'no number: "x"' });
    expect(rejects.summary()).toEqual(['  1 × no number: "…"']);
  });

  it('replaces that of an earlier run, and not that of one that runs at the same time', async () => {
    await writeFile(file, 'of an earlier run');
    const [first, second] = [await Rejects.open(file, false, true), await Rejects.open(file, false)];
    first.add(1, 'a', 'wrong');
    second.add(1, 'b', 'wrong');
    await second.close();
    await first.close();
    expect(second.file).toBe(file);
    expect(await readFile(file, 'utf8')).toContain('"b"');
    expect(first.file).toBe(path.join(folder, `rejects-${process.pid}.ndjson`));
    expect(await readFile(first.file, 'utf8')).toContain('"a"');

    const next = await Rejects.open(file, false, true);
    next.add(1, 'c', 'wrong');
    await next.close();
    expect(next.file).toBe(file);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ id: 'c' });
    expect(await readdir(folder)).toEqual(['rejects.ndjson']);
  });

  it('says so if the disk is full', async () => {
    const rejects = await Rejects.open(file, false);
    await symlink('/dev/full', file);
    rejects.add(1, '1', 'wrong');
    await expect(rejects.close()).rejects.toThrow('choose another file with --rejects');
    expect(() => rejects.add(2, '2', 'wrong')).toThrow('cannot be written (ENOSPC');
  });
});
