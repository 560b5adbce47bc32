import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SHORT_LIVED } from '@akin/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { databaseFolder } from '../../../test/support.ts';
import { writeBackup } from './backup-archive.ts';
import { openPglite } from './pglite.ts';

describe('the folder of the embedded database', () => {
  let folder: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ folder, remove } = await databaseFolder());
  });

  afterEach(() => remove());

  it('keeps written data for the next start, and refuses a second user in the same process, whose pid it names', async () => {
    {
      await using engine = await openPglite(folder);
      await engine.query('create table kept (n int)');
      await engine.query('insert into kept values (5)');
      await expect(openPglite(folder)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(`pid ${process.pid}`),
      });
    }
    await using again = await openPglite(folder);
    expect(await again.query('select n from kept')).toEqual([{ n: 5 }]);
  });

  it('refuses the folder while another process lives, and takes it over after that one was killed', async () => {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log("up")'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(other.stdout, 'data');
    const stat = await readFile(`/proc/${other.pid}/stat`, 'utf8').catch(() => '');
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    await writeFile(join(folder, 'lock'), JSON.stringify({ pid: other.pid, started }));
    await expect(openPglite(folder)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`pid ${other.pid}`),
    });
    other.kill('SIGKILL');
    await once(other, 'exit');
    await using engine = await openPglite(folder);
    expect(await engine.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('takes over an incomplete lock, and one whose pid now belongs to another process', async () => {
    await writeFile(join(folder, 'lock'), '{"pi');
    await (await openPglite(folder))[Symbol.asyncDispose]();
    await writeFile(join(folder, 'lock'), JSON.stringify({ pid: process.pid, started: '1' }));
    await (await openPglite(folder))[Symbol.asyncDispose]();
    expect(await readdir(folder)).not.toContain('lock');
  });

  it('takes a folder over from a killed process that its parent has not waited for', async () => {
    if (process.platform !== 'linux') return;
    // `exec` replaces the shell by `sleep`, which never waits for its child: killed, the child becomes a zombie.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const until = async (condition: () => Promise<boolean>) => {
      while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      const fields = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
      await until(async () => (await readFile(`/proc/${parent.pid}/comm`, 'utf8')) === 'sleep\n');
      process.kill(pid, 'SIGKILL');
      await until(async () => (await fields())[0] === 'Z');
      await writeFile(join(folder, 'lock'), JSON.stringify({ pid, started: (await fields())[19] }));
      await (await openPglite(folder))[Symbol.asyncDispose]();
      expect(await readdir(folder)).not.toContain('lock');
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('says which folder cannot be created', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(openPglite(join(folder, 'file', 'data'))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/file.data cannot be made: a file is in the way/),
    });
  });

  it('refuses a folder of another version, and says what to do', async () => {
    await writeFile(join(folder, 'akin.json'), JSON.stringify({ format: 1, postgres: 17, pglite: '0.4' }));
    await expect(openPglite(folder)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/PostgreSQL 17.*Export/),
    });
    await writeFile(join(folder, 'akin.json'), 'garbage');
    await expect(openPglite(folder)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('akin.json'),
    });
  });

  it('contains nothing at first', async () => {
    const fresh = join(folder, 'fresh');
    await using engine = await openPglite(fresh);
    const made = await engine.query(
      "select relname from pg_class where oid >= 16384 or relnamespace = 'public'::regnamespace",
    );
    expect(made).toEqual([]);
  });

  it('removes the left-overs of a killed first start', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'akin-store-'));
    const fresh = join(parent, 'data');
    const engine = new URL('../../../dist/database/engine/', import.meta.url);
    const script = `
      const { lockFolder } = await import('${new URL('folder.js', engine)}');
      const { unpackEmptyDatabase } = await import('${new URL('empty-database.js', engine)}');
      await lockFolder(${JSON.stringify(fresh)}, () => {});
      unpackEmptyDatabase(${JSON.stringify(join(fresh, 'pg.new'))});
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, [...SHORT_LIVED, '--input-type=module', '-e', script], { stdio: 'ignore' });
    await once(child, 'exit');
    expect((await readdir(join(fresh, 'pg.new'))).length).toBeGreaterThan(3);
    expect(await readdir(fresh)).not.toContain('pg');
    await using opened = await openPglite(fresh);
    expect(await opened.query('select 1 as one')).toEqual([{ one: 1 }]);
    expect((await readdir(fresh)).sort()).toEqual(['akin.json', 'lock', 'pg']);
    await opened[Symbol.asyncDispose]();
    await rm(parent, { recursive: true });
  });

  it('abandons a cancelled start, and leaves nothing incomplete', async () => {
    const fresh = join(folder, 'fresh');
    const stop = new AbortController();
    const opening = openPglite(fresh, { signal: stop.signal }).catch((error: unknown) => error);
    while (!(await readdir(fresh).catch((): string[] => [])).includes('pg')) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    stop.abort();
    expect(await opening).toBe(stop.signal.reason);
    expect((await readdir(fresh)).sort()).toEqual(['akin.json', 'pg']);
    // The same with an existing database.
    await expect(openPglite(folder, { signal: stop.signal })).rejects.toBe(stop.signal.reason);
    expect(await readdir(folder)).not.toContain('lock');
    await using engine = await openPglite(folder);
    expect(await engine.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('reports damaged data, and releases the lock', async () => {
    await truncate(join(folder, 'pg', 'global', 'pg_control'), 10);
    await expect(openPglite(folder)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/cannot be opened.*restore a backup/),
    });
    expect(await readdir(folder)).not.toContain('lock');
  });

  it('restores a backup into an empty folder, and only there', async () => {
    const file = join(folder, '..', 'backup.tar.gz');
    {
      await using engine = await openPglite(folder);
      await engine.query('create table kept (n int)');
      await engine.query('insert into kept values (7)');
      await writeBackup(file, await engine.backup());
      await engine.query('insert into kept values (8)');
    }
    await expect(openPglite(folder, { backup: file })).rejects.toMatchObject({ code: 'conflict' });
    const empty = join(folder, '..', 'empty');
    for (const wrong of [join(folder, 'akin.json'), join(folder, 'is-not-there')]) {
      const { code, message } = await openPglite(empty, { backup: wrong }).catch((error) => error);
      expect([code, message]).toEqual(['bad-request', expect.stringContaining(`${wrong} cannot be restored: `)]);
    }
    expect(await readdir(empty)).toEqual([]);
    await using restored = await openPglite(join(folder, '..', 'restored'), { backup: file });
    expect(await restored.query('select n from kept')).toEqual([{ n: 7 }]);
  });

  it('keeps its log short while it is written to', async () => {
    await using engine = await openPglite(folder);
    await engine.query('create table filled (n int, text text)');
    for (let i = 0; i < 150; i++) {
      await engine.query("insert into filled select n, repeat('x', 1000) from generate_series(1, 1000) n", [], 'bulk');
    }
    const segments = await readdir(join(folder, 'pg', 'pg_wal'));
    // Without checkpoints there would be ten of 16 MB.
    expect(segments.filter((name) => /^[0-9A-F]{24}$/.test(name)).length).toBeLessThan(6);
  });

  it('answers while a long statement runs elsewhere in the process', async () => {
    await using engine = await openPglite(folder);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    await engine.query('select count(*) from generate_series(1, 3000000)');
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
  });
});
