import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { databaseFolder } from '../../../test/support.ts';
import { writeBackup } from './backup-archive.ts';
import { openPglite } from './pglite.ts';

it('a backup of an embedded database in use keeps the log of its duration, and not longer', async () => {
  const { folder, remove } = await databaseFolder();
  const file = join(folder, '..', 'backup');
  const segments = async () =>
    (await readdir(join(folder, 'pg', 'pg_wal'))).filter((name) => /^[0-9A-F]{24}$/.test(name));
  {
    await using engine = await openPglite(folder);
    await engine.query('create table kept (n int primary key, filled text)');
    const write = async () => {
      for (let i = 0; i < 100; i++) {
        await engine.query("insert into kept select $1 + n, repeat('x', 1000) from generate_series(1, 1000) n", [
          i * 1000,
        ]);
      }
    };
    const bytes = await engine.backup();
    await write();
    expect((await segments()).length).toBeGreaterThan(5);
    await writeBackup(file, bytes);
    await engine.query('delete from kept');
    await write();
    expect((await segments()).length).toBeLessThan(6);
    await using copy = await openPglite(join(folder, '..', 'restored'), { backup: file });
    expect(await copy.query('select count(*)::int as rows from kept')).toEqual([{ rows: 100_000 }]);
  }
  await remove();
});
