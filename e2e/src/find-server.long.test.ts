import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Collection, createClient } from '@akin/client';
import { drawImage } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RunningCommand, runAkin, runInTurn, temporaryFolder, until } from './akin.ts';

describe('commands in the folder of an akin that serves on any port', () => {
  let home: Awaited<ReturnType<typeof temporaryFolder>>;
  let akin: RunningCommand;
  let url: string;
  let collection: Collection;
  const serverFile = () => path.join(home.folder, 'akin-data', 'server.json');
  const options = () => ({ cwd: home.folder, env: { HOME: home.folder, AKIN_THREADS: '1' } });
  const run = (...args: string[]) => runAkin(args, options());
  /** The same for an akin that serves, in a process of many commands. */
  const ask = (...args: string[]) => runInTurn([...args, '--data', path.join(home.folder, 'akin-data')]);
  const inHome = (name: string) => path.join(home.folder, name);
  async function serve(): Promise<void> {
    akin = new RunningCommand(['serve', '--port', '0', '--no-open', '--no-demo'], options());
    [, url = ''] = await akin.waitForOutput(/akin answers at (http:\S+)\//);
    collection = createClient({ baseUrl: url }).collection('my-collection');
    await until('it tells where it answers', () =>
      stat(serverFile()).then(
        () => true,
        () => false,
      ),
    );
  }

  beforeAll(async () => {
    home = await temporaryFolder();
    await mkdir(path.join(home.folder, 'pictures'));
    for (const name of ['a', 'b']) {
      await writeFile(path.join(home.folder, 'pictures', `${name}.png`), await drawImage({ width: 64, height: 48 }));
    }
    await serve();
  });
  afterAll(async () => {
    await akin?.stop('SIGKILL');
    await home?.remove();
  });

  it('find it by a file that no other user can read', async () => {
    expect((await stat(serverFile())).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(serverFile(), 'utf8'))).toEqual({ pid: expect.any(Number), url });
  });

  it('index, export, import, reindex and create keys there', async () => {
    expect(await run('index', 'pictures')).toMatchObject({ code: 0 });
    expect((await collection.select({ rows: 0 })).response.numFound).toBe(2);
    expect(await ask('export', '-o', inHome('all.ndjson'))).toMatchObject({ code: 0 });
    await collection.deleteByQuery('*:*', { commit: true });
    expect(await ask('import', inHome('all.ndjson'))).toMatchObject({ code: 0 });
    expect((await collection.select({ rows: 0 })).response.numFound).toBe(2);
    expect(await ask('reindex')).toMatchObject({ code: 0 });
    const { out } = await ask('status');
    expect(out).toContain(`answers at ${url}/\nprocess: akin, Node ${process.versions.node}, since `);
    expect(out).toMatch(/^queue: .*\ndata: .*akin-data, \d+ MB, .* free\n\ncollection .*\nmy-collection +2 +0 +0 /m);
    expect(JSON.parse((await ask('status', '--json')).out)).toMatchObject({
      url,
      data: { folder: path.join(home.folder, 'akin-data') },
      queues: { analyze: { waiting: 0 } },
      collections: [{ name: 'my-collection', documents: 2 }],
    });
    expect((await ask('keys', 'create', '--scope', 'search', '--note', 'made there')).out).toMatch(/^akin_/);
    expect((await createClient({ baseUrl: url }).keys()).keys).toMatchObject([{ note: 'made there' }]);
  });

  it('index into the folder that they name, and not into another akin', async () => {
    const env = { ...options().env, PORT: new URL(url).port };
    const { code, out, err } = await runAkin(['index', 'pictures', '--data', 'other'], { ...options(), env });
    expect([code, out, err]).toEqual([
      0,
      expect.stringContaining('2 indexed'),
      expect.stringMatching(/^While this command runs, the page is at /m),
    ]);
    expect(err).not.toContain('No akin answers');
    const nowhere = await runInTurn(['index', inHome('pictures'), '--database-url', 'postgres://127.0.0.1:1/x']);
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining('ECONNREFUSED 127.0.0.1:1')]);
  });

  it('find its data folder by its port, whatever their folder of temporary files is', async () => {
    const port = new URL(url).port;
    const env = { ...options().env, TMPDIR: path.join(home.folder, 'pictures') };
    const indexed = await runAkin(['index', 'pictures', '--port', port, '--collection', 'shown'], {
      ...options(),
      env,
    });
    expect(indexed.code).toBe(0);
    const shown = createClient({ baseUrl: url }).collection('shown');
    expect((await fetch(shown.originalAddress('a.png'))).status).toBe(200);
  });

  it('say where it runs and how to stop it, if they need the folder for themselves', async () => {
    const { pid } = JSON.parse(await readFile(serverFile(), 'utf8'));
    expect(await run('backup', 'akin.backup')).toMatchObject({ code: 0, err: '' });
    const { code, err } = await run('restore', 'akin.backup');
    expect([code, err]).toEqual([1, expect.stringMatching(new RegExp(`at ${url}: stop it first, .*kill ${pid}\\.`))]);
    const second = await run('serve', '--port', '0', '--no-open', '--no-demo');
    expect([second.code, second.err]).toEqual([1, expect.stringContaining(`It is at ${url}/.`)]);
    // The second one did not take its place.
    expect(JSON.parse(await readFile(serverFile(), 'utf8'))).toEqual({ pid, url });
  });

  it('ignore one that was killed, or whose process number and port belong to others now', async () => {
    await akin.stop('SIGKILL');
    expect(JSON.parse(await readFile(serverFile(), 'utf8'))).toMatchObject({ url });
    expect((await run('keys', 'list')).out).toContain('made there');
    const other = createServer((_, response) => response.end('{"status":"another"}'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const port = (other.address() as AddressInfo).port;
    await writeFile(serverFile(), JSON.stringify({ pid: process.pid, url: `http://127.0.0.1:${port}` }));
    expect(await run('backup', 'akin.backup')).toMatchObject({ code: 0 });
    other.close();
    await writeFile(serverFile(), '{"pid":');
    expect((await run('keys', 'list')).out).toContain('made there');
  });

  it('find no file of one that shut down', async () => {
    await rm(serverFile());
    await serve();
    expect(await akin.stop()).toMatchObject({ code: 0, err: '' });
    await expect(stat(serverFile())).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
