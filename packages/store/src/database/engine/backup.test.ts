import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { databaseFolder } from '../../../test/support.ts';
import { watchThreads } from '../../../test/threads.ts';
import { writeBackup } from './backup-archive.ts';
import { openPglite, type PgliteEngine } from './pglite.ts';

const ROWS = 1_000;

describe('a backup of an embedded database in use', () => {
  let folder: string;
  let file: string;
  let remove: () => Promise<void>;
  let engine: PgliteEngine;
  let watched: ReturnType<typeof watchThreads>;

  beforeEach(async () => {
    ({ folder, remove } = await databaseFolder());
    file = join(folder, '..', 'backup');
    watched = watchThreads('pglite-thread');
    engine = await openPglite(folder);
    await engine.query('create table kept (n int primary key, filled text)');
  });
  afterEach(async () => {
    watched.end();
    await engine[Symbol.asyncDispose]();
    await remove();
  });

  /** A hundred rows with contents that compress badly. */
  const insert = (from: number) =>
    engine.query(
      `insert into kept select n, (select string_agg(md5(n::text || i), '') from generate_series(1, 40) i)
       from generate_series($1::int, $1::int + 99) n`,
      [from],
    );
  const restored = async () => openPglite(join(folder, '..', 'restored'), { backup: file });

  it('contains all earlier commits, and no part of one, while rows are written and changed', async () => {
    for (let n = 0; n < ROWS; n += 100) await insert(n);
    const bytes = await engine.backup();
    let written = ROWS;
    let [size, chunks] = [0, 0];
    await writeBackup(
      file,
      (async function* () {
        for await (const chunk of bytes) {
          size += chunk.length;
          yield chunk;
          if (++chunks % 4 > 0) continue;
          // A transaction has both changes or none.
          await engine.transaction(async (tx) => {
            await tx.query('update kept set filled = $1 where n % 50 = $2', [`changed at ${written}`, written % 50]);
            await tx.query('insert into kept values ($1, $2)', [written, `changed at ${written}`]);
          });
          written += 1;
        }
      })(),
    );
    expect(size).toBe((await stat(file)).size);
    expect(written).toBeGreaterThan(ROWS + 5);
    await using copy = await restored();
    const [row] = await copy.query<{ rows: number; last: number }>(
      'select count(*)::int as rows, max(n) as last from kept',
    );
    expect(row?.rows).toBe((row?.last ?? 0) + 1);
    expect(row?.rows).toBeGreaterThanOrEqual(ROWS);
    // Read by pages and by the index.
    const torn = await copy.query(
      `select n from kept where n >= ${ROWS} and not exists
       (select from kept as changed where changed.filled = kept.filled and changed.n % 50 = kept.n % 50)`,
    );
    expect(torn).toEqual([]);
    await copy.query('set enable_seqscan = off');
    expect(await copy.query('select n from kept where n = 99')).toEqual([{ n: 99 }]);
    await copy.query("insert into kept values (-1, 'goes on')");
  });

  it('runs alone, and an abandoned one makes room for the next', async () => {
    const bytes = await engine.backup();
    await expect(engine.backup()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Another backup'),
    });
    bytes.destroy(new Error('the client has gone before it read anything'));
    await new Promise((resolve) => bytes.once('close', resolve));
    const again = async (): Promise<void> =>
      engine.backup().then(
        (next) => writeBackup(file, next),
        () => new Promise((resolve) => setTimeout(resolve, 10)).then(again),
      );
    await again();
    await using copy = await restored();
    expect(await copy.query('select n from kept')).toEqual([]);
  });

  it('fails with the thread of the database, and leaves an earlier backup unchanged', async () => {
    await writeFile(file, 'yesterday');
    const bytes = await engine.backup();
    await watched.threads.at(-1)?.terminate();
    await engine.query('select 1').catch(() => undefined);
    await expect(writeBackup(file, bytes)).rejects.toThrow();
    expect(await readFile(file, 'utf8')).toBe('yesterday');
    expect(await readdir(join(folder, '..'))).not.toContain('backup.partial');
  });

  it('is refused if it is truncated, or contains something else', async () => {
    await writeBackup(file, await engine.backup());
    await truncate(file, (await stat(file)).size - 100);
    await expect(restored()).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.stringContaining('unexpected end of file'),
    });
    expect(await readdir(join(folder, '..', 'restored'))).toEqual([]);
  });
});
