import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { debianPostgresClients, drawImage, type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServingAkin, serveAkin, until } from './akin.ts';
import { type Fleet, type Pictures, servePictures, startFleet } from './fleet.ts';

const SCRIPTS = fileURLToPath(new URL('../../infra/scripts/', import.meta.url));
const run = promisify(execFile);

describe('a backup of a fleet on PostgreSQL', () => {
  let database: TestDatabase;
  let empty: TestDatabase;
  /** The empty database as a role that owns it and may do nothing else. */
  let ordinary: string;
  let pictures: Pictures;
  let folder: string;
  let clients: string;
  let fleet: Fleet;
  let restored: ServingAkin | undefined;

  beforeAll(async () => {
    [database, empty] = await Promise.all([testDatabase(), testDatabase()]);
    const url = new URL(empty.url);
    url.username = `owner${url.pathname.slice('/akin_test'.length)}`;
    url.password = 'ordinary';
    ordinary = url.href;
    await empty.run(`create role ${url.username} login password 'ordinary'`);
    await empty.run(`alter database ${url.pathname.slice(1)} owner to ${url.username}`);
    pictures = await servePictures(await drawImage({ width: 160, height: 120 }));
    folder = await mkdtemp(path.join(tmpdir(), 'akin-backup-'));
    // Fetched for the first time.
    clients = await debianPostgresClients();
    fleet = await startFleet({ DATABASE_URL: database.url });
    await until('the gateway is ready', () => fleet.gateway.isReady());
  });
  afterAll(async () => {
    for (const one of fleet?.all ?? []) await one.kill();
    await restored?.command.stop();
    pictures?.close();
    await rm(folder, { recursive: true, force: true });
    await empty?.drop();
    await database?.run(`drop role if exists ${new URL(ordinary).username}`);
    await database?.drop();
  });

  const script = (name: string, databaseUrl: string) =>
    run(path.join(SCRIPTS, name), [path.join(folder, 'akin.dump')], {
      env: { ...process.env, DATABASE_URL: databaseUrl, PATH: `${clients}:${process.env.PATH}` },
    });

  it('is taken while it serves, and restores everything that was accepted, visible or not', async () => {
    const { all, analyzer, gateway } = fleet;
    const collection = gateway.client.collection('my-collection');
    const image = `${pictures.url}/a.jpg`;
    await collection.add([{ id: 'seen', image, price: 3, labels: ['red'] }], { commit: true });
    await analyzer.stop();
    await collection.add([{ id: 'waiting', image }], { async: true });
    await script('backup.sh', database.url);
    await collection.add([{ id: 'later' }], { commit: true });
    for (const one of all) await one.stop();

    await expect(script('restore.sh', ordinary)).rejects.toThrow('As a superuser run in the database');
    await empty.run('create extension vector');
    const { stdout } = await script('restore.sh', ordinary);
    expect(stdout).toContain(`belongs to the role ${new URL(ordinary).username}`);
    restored = await serveAkin(['--no-demo', '--data', path.join(folder, 'data'), '--database-url', ordinary], {
      AKIN_ALLOW_LOOPBACK_IMAGES: 'true',
    });
    const again = restored.client.collection('my-collection');
    await until('what waited is visible', async () => {
      await again.commit().catch(() => undefined);
      return (await again.select({ rows: 0 })).response.numFound === 2;
    });
    const { response } = await again.image({ 'rank.by.id': 'seen', fq: 'price:3', fl: 'id,score,labels' });
    expect(response.docs).toEqual([{ id: 'seen', score: 1, labels: ['red'] }]);
    expect((await again.select({ sort: 'id asc', fl: 'id' })).response.docs).toEqual([
      { id: 'seen' },
      { id: 'waiting' },
    ]);
  });

  it('is refused by a database that is not empty, and does not change it', async () => {
    await expect(script('restore.sh', ordinary)).rejects.toThrow('already exists');
  });
});
