import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { testFolder } from './files-folder.ts';
import { copyTemplate, type TestDatabase, testDatabase, testRedis } from './index.ts';
import { postgresIsUp, redisIsUp } from './is-up.ts';

describe('a test database', () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await testDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  it('is PostgreSQL 15 or newer', async () => {
    const { rows } = await client.query(`select current_setting('server_version_num')::int as version`);
    expect(rows[0].version).toBeGreaterThanOrEqual(150000);
  });

  it('ranks half-precision vectors', async () => {
    await client.query('create extension vector');
    await client.query(`create table pictures (id text, v halfvec(2))`);
    await client.query(`insert into pictures values ('far', '[1,1]'), ('near', '[0,0.5]')`);
    const { rows } = await client.query(`select id from pictures order by v <-> '[0,0]'`);
    expect(rows.map(({ id }) => id)).toEqual(['near', 'far']);
  });

  it('is gone once dropped, even while somebody is connected', async () => {
    const other = await testDatabase();
    const connected = new Client({ connectionString: other.url });
    connected.on('error', () => {});
    await connected.connect();
    await other.drop();
    expect(await postgresIsUp(other.url)).toBe(false);
    await connected.end();
  });
});

describe('a template', () => {
  it('is made once for callers at the same time, and by the next caller if that fails', async () => {
    const place = await mkdtemp(join(tmpdir(), 'akin-template-'));
    let made = 0;
    const make = async (folder: string) => {
      if (++made === 1) throw new Error('no space');
      await mkdir(folder);
      await writeFile(join(folder, 'file'), 'text');
    };
    const copies = ['a', 'b', 'c', 'd'].map((name) => join(place, name));
    const name = `of-a-test-${process.pid}`;
    const ends = await Promise.allSettled(copies.map((to) => copyTemplate(name, to, make)));
    expect([made, ends.filter(({ status }) => status === 'rejected').length]).toEqual([2, 1]);
    const copied = copies.filter((_, i) => ends[i]?.status === 'fulfilled');
    for (const to of copied) expect(await readFile(join(to, 'file'), 'utf8')).toBe('text');
    await rm(place, { recursive: true });
  });
});

describe('a test Redis', () => {
  it('drops the keys of its prefix and no others', async () => {
    const mine = await testRedis();
    const other = await testRedis();
    const redis = new Redis(mine.url);
    await redis.set(`${mine.prefix}:a`, '1');
    await redis.set(`${other.prefix}:a`, '1');
    await mine.drop();
    expect([await redis.exists(`${mine.prefix}:a`), await redis.exists(`${other.prefix}:a`)]).toEqual([0, 1]);
    await other.drop();
    await redis.quit();
  });
});

describe('services of a process', () => {
  const START = `
    import { createServices } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)};
    const services = createServices({});
    console.log(JSON.stringify(await Promise.all([services.postgres(), services.redis()])));
    process.stdin.on('data', () => services[Symbol.asyncDispose]().then(() => process.exit()));
  `;

  async function startInProcess() {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', START], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const [postgres, redis] = JSON.parse(line.toString()) as [string, string];
    expect([await postgresIsUp(postgres), await redisIsUp(redis)]).toEqual([true, true]);
    return { child, postgres, redis };
  }

  const foldersOf = async (pid: number | undefined) =>
    (await readdir(testFolder())).filter((name) => name.startsWith(`akin-tests-${pid}-`));

  it('leave no server and no folder behind', async () => {
    const { child, postgres, redis } = await startInProcess();
    expect(await foldersOf(child.pid)).toHaveLength(1);
    child.stdin.write('stop');
    await once(child, 'exit');
    expect([await postgresIsUp(postgres), await redisIsUp(redis)]).toEqual([false, false]);
    expect(await foldersOf(child.pid)).toEqual([]);
  });

  it('are a PostgreSQL with default settings, which compiles expensive statements', async () => {
    const { child, postgres } = await startInProcess();
    const client = new Client({ connectionString: postgres });
    await client.connect();
    const { rows: changed } = await client.query<{ name: string }>(
      `select name from pg_settings where source = 'command line' and setting is distinct from boot_val order by name`,
    );
    // Where the server listens, how often it syncs to disk, and how many connections it allows.
    const ours = [
      'fsync',
      'full_page_writes',
      'listen_addresses',
      'max_connections',
      'port',
      'unix_socket_directories',
    ];
    expect(ours).toEqual(expect.arrayContaining(changed.map(({ name }) => name)));
    await client.query('create table things (id int); insert into things values (1); set enable_seqscan = off');
    const { rows } = await client.query('explain (analyze) select id from things where id % 2 = 1');
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/JIT:\n.*Functions: \d/);
    await client.end();
    child.stdin.write('stop');
    await once(child, 'exit');
  });

  it('end by themselves when the process is killed', async () => {
    const { child, postgres, redis } = await startInProcess();
    child.kill('SIGKILL');
    await once(child, 'exit');
    while ((await postgresIsUp(postgres)) || (await redisIsUp(redis)));
    const next = await startInProcess();
    expect(await foldersOf(child.pid)).toEqual([]);
    next.child.stdin.write('stop');
    await once(next.child, 'exit');
  });
});
