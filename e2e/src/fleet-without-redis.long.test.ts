import { type BreakableProxy, drawImage, openProxy, type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runAkin, until } from './akin.ts';
import { type FleetProcess, type Pictures, servePictures, startFleet } from './fleet.ts';

describe('a fleet with only PostgreSQL', () => {
  let database: TestDatabase;
  let proxy: BreakableProxy;
  let pictures: Pictures;
  let gateway: FleetProcess;
  let analyzer: FleetProcess;
  let all: readonly FleetProcess[] = [];
  const collection = () => gateway.client.collection('my-collection');
  const send = (from: number, count: number) =>
    collection().add(
      Array.from({ length: count }, (_, i) => ({ id: `p${from + i}`, image: `${pictures.url}/${from + i}.jpg` })),
      { async: true },
    );
  const untilVisible = (count: number) =>
    until(`${count} documents are visible`, async () => {
      const found = await collection()
        .commit()
        .then(() => collection().select({ rows: 0 }))
        .catch(() => undefined);
      return found?.response.numFound === count;
    });

  beforeAll(async () => {
    database = await testDatabase();
    proxy = await openProxy(database.url);
    pictures = await servePictures(await drawImage({ width: 160, height: 120 }));
    ({ gateway, analyzer, all } = await startFleet({ DATABASE_URL: proxy.url }));
    for (const one of all) await until(`${one.name} is ready`, () => one.isReady());
  });
  afterAll(async () => {
    for (const one of all) await one.kill();
    pictures?.close();
    await proxy?.[Symbol.asyncDispose]();
    await database?.drop();
  });

  it('analyzes pictures of documents and of queries', async () => {
    await collection().add([{ id: 'p0', image: `${pictures.url}/0.jpg` }], { commit: true });
    const { response } = await collection().image({ 'rank.by.url': `${pictures.url}/a.jpg`, fl: 'id,score' });
    expect(response.docs).toEqual([{ id: 'p0', score: 1 }]);
  });

  it('is shown by akin status: each process with its role, and the analyzers that the gateway asks', async () => {
    const { out, err, code } = await runAkin(['status', '--json', '--url', gateway.url]);
    expect([err, code]).toEqual(['', 0]);
    const { processes, analyzers } = JSON.parse(out);
    const roles = processes.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(expect.arrayContaining(['analyzer', 'gateway', 'indexer']));
    expect(new Set(processes.map(({ pid }: { pid: number }) => pid)).size).toBe(all.length);
    expect(analyzers).toEqual([{ address: expect.stringContaining('127.0.0.1'), leftOut: false }]);
    const words = (await runAkin(['status', '--url', gateway.url])).out;
    expect(words).toMatch(/^fleet: indexer \d\S+ on \S+ \(127\.0\.0\.1\), pid \d+, connected since /m);
    expect(words).toMatch(/^analyzer: \S+, in use$/m);
  });

  it('continues by itself after an analyzer was killed, and after PostgreSQL was away', async () => {
    await send(1, 60);
    await analyzer.kill();
    const gone = async () => !(await gateway.client.processes()).processes.some(({ role }) => role === 'analyzer');
    await until('the analyzer is listed no more', gone);
    await analyzer.start();
    await untilVisible(61);
    await send(61, 60);
    await proxy.cut();
    await until('the gateway tells that it is away', async () => !(await gateway.isReady()));
    await proxy.mend();
    await untilVisible(121);
  });

  it('shuts down in order', async () => {
    for (const one of all) expect(await one.stop()).toBe(0);
  });
});
