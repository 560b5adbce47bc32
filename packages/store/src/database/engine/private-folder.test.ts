import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { writeBackup } from './backup-archive.ts';
import { openPglite } from './pglite.ts';
import { preparePrivateFolder } from './private-folder.ts';

let parent: string;
let warnings: string[];
const warn = (text: string) => warnings.push(text);

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'akin-private-'));
  warnings = [];
});
afterEach(() => rm(parent, { recursive: true }));

const modeOf = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8);

/** Files in a folder that other users can use. */
async function openToOthers(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const modes = await Promise.all(['', ...names].map(async (name) => [name, await stat(join(folder, name))] as const));
  return modes.filter(([, { mode }]) => (mode & 0o077) !== 0).map(([name]) => name);
}

describe('the files of an embedded database', () => {
  let before: number;
  beforeEach(() => {
    before = process.umask(0);
  });
  afterEach(() => {
    process.umask(before);
  });

  it('are only for their owner, as are backups and restored files, whatever the umask', async () => {
    const folder = join(parent, 'a', 'database');
    const file = join(parent, 'backup.tar.gz');
    // An open file of an earlier backup, and one that is a link to a file of another user.
    await writeFile(join(parent, 'foreign'), 'theirs');
    await symlink(join(parent, 'foreign'), `${file}.partial`);
    {
      await using engine = await openPglite(folder);
      await engine.query('create table made_later (n int)');
      await engine.query('insert into made_later values (1)');
      await writeBackup(file, await engine.backup());
      expect(await openToOthers(join(parent, 'a'))).toEqual([]);
    }
    expect([await modeOf(file), (await stat(join(parent, 'foreign'))).size]).toEqual(['600', 6]);
    await using _restored = await openPglite(join(parent, 'b'), { backup: file });
    expect(await openToOthers(join(parent, 'b'))).toEqual([]);
  });
});

describe('the data folder', () => {
  const ours = (name: string) => name === 'database';
  const take = (folder: string) => preparePrivateFolder(folder, ours, warn);

  it('is created with its parents, and closed to others', async () => {
    await take(join(parent, 'a', 'b'));
    expect([await modeOf(join(parent, 'a')), await modeOf(join(parent, 'a', 'b'))]).toEqual(['700', '700']);
    expect(warnings).toEqual([]);
  });

  it('is closed if it was open, with a warning if others can write to it', async () => {
    const folder = join(parent, 'open');
    await mkdir(join(folder, 'lost+found'), { recursive: true });
    await chmod(folder, 0o755);
    await take(folder);
    expect([await modeOf(folder), warnings]).toEqual(['700', []]);
    await chmod(folder, 0o1777);
    await take(folder);
    expect([await modeOf(folder), warnings]).toEqual(['1700', [expect.stringContaining('(mode 1777). akin removes')]]);
  });

  it('is refused if it contains other files, and keeps its permissions if it contains both', async () => {
    await chmod(parent, 0o777);
    await writeFile(join(parent, 'holiday.jpg'), '');
    await expect(take(parent)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/contains other files \(holiday\.jpg\).*new one, with --data/),
    });
    await mkdir(join(parent, 'database'));
    await take(parent);
    expect([await modeOf(parent), warnings]).toEqual(['777', [expect.stringContaining('akin does not change that')]]);
  });

  it('is refused if this user may not read or write it', async () => {
    const closed = join(parent, 'closed');
    await mkdir(closed, { mode: 0o500 });
    // Root may do everything: for a moment the test is another user, who can access the parent folder.
    const root = process.geteuid?.() === 0;
    await chmod(parent, 0o755);
    if (root) process.seteuid?.(65534);
    try {
      const why = { code: 'unavailable', message: expect.stringContaining('this user lacks the right') };
      await expect(take(join(closed, 'data'))).rejects.toMatchObject(why);
      await expect(openPglite(closed)).rejects.toMatchObject(why);
    } finally {
      if (root) process.seteuid?.(0);
    }
  });

  it('is refused with the reason if it cannot be created', async () => {
    await writeFile(join(parent, 'file'), '');
    await symlink(join(parent, 'nowhere'), join(parent, 'link'));
    const refused: [string, RegExp][] = [
      [join(parent, 'file'), /cannot be made: a file is in the way\. .*--data/],
      [join(parent, 'file', 'data'), /cannot be made: a file is in the way\./],
      [join(parent, 'link'), /cannot be made: a file is in the way\./],
      [join(parent, 'x'.repeat(300)), /cannot be made: its name is too long\./],
    ];
    // Node's recursive mkdir never ends there.
    if (process.platform === 'linux')
      refused.push(['/proc/foo/bar', /foo\/bar cannot be made: .*does not allow such a folder\./]);
    for (const [folder, message] of refused) {
      await expect(take(folder)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(message),
      });
    }
  });
});
