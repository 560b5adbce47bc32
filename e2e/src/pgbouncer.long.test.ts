import {
  type BreakableProxy,
  drawImage,
  openPgBouncer,
  openProxy,
  type Server,
  type TestDatabase,
  testDatabase,
} from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RunningCommand, runAkin, until } from './akin.ts';
import { type FleetProcess, type Pictures, servePictures, startFleet } from './fleet.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database?.drop());

describe('a fleet without Redis behind PgBouncer, in session pooling', () => {
  let pooler: Server;
  let proxy: BreakableProxy;
  let pictures: Pictures;
  let gateway: FleetProcess;
  let indexer: FleetProcess;
  let analyzer: FleetProcess;
  let all: readonly FleetProcess[] = [];
  const collection = () => gateway.client.collection('my-collection');
  const add = (ids: readonly string[]) =>
    collection().add(
      ids.map((id) => ({ id, image: `${pictures.url}/${id}.jpg` })),
      { commit: true },
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
    // As many as docs/servers.md says: 11 each of gateway and indexer, 8 each of the queues.
    pooler = await openPgBouncer(database.url, { pool_mode: 'session', default_pool_size: '38' });
    pictures = await servePictures(await drawImage({ width: 160, height: 120 }));
    proxy = await openProxy(pooler.url);
    ({ gateway, indexer, analyzer, all } = await startFleet({ DATABASE_URL: proxy.url }));
    for (const one of all) await until(`${one.name} is ready`, () => one.isReady());
  });
  afterAll(async () => {
    for (const one of all) await one.kill();
    pictures?.close();
    await proxy?.[Symbol.asyncDispose]();
    await pooler?.[Symbol.asyncDispose]();
  });

  it('accepts, analyzes, commits and finds', async () => {
    await add(['a', 'b', 'c']);
    const { response } = await collection().image({ 'rank.by.url': `${pictures.url}/a.jpg`, fl: 'id,score', rows: 3 });
    expect(response.docs).toEqual(['a', 'b', 'c'].map((id) => ({ id, score: 1 })));
  });

  it('has metrics of leaders, connections and the queue', async () => {
    const wanted: readonly (readonly [name: string, figure: RegExp])[] = [
      ['gateway', /^akin_build_info\{process="akin gateway",version="[^"]+",node="[^"]+"\} 1$/m],
      ['gateway', /^akin_pool_connections\{state="idle"\} \d+$/m],
      ['gateway', /^akin_pool_waiting 0$/m],
      ['indexer', /^akin_collections_led 1$/m],
      ['indexer', /^akin_collections_without_leader 0$/m],
      ['indexer', /^akin_queue_up\{server="PostgreSQL"\} 1$/m],
      ['analyzer', /^akin_queue_up\{server="PostgreSQL"\} 1$/m],
    ];
    // Some metrics are a few seconds old.
    let missing: typeof wanted = [];
    const areDescribed = async () => {
      const told = new Map(
        await Promise.all(
          all.map(async (one) => [one.name as string, String((await one.get('/metrics')).body)] as const),
        ),
      );
      missing = wanted.filter(([name, figure]) => !figure.test(told.get(name) ?? ''));
      return missing.length === 0;
    };
    await until('all are told', areDescribed).catch(() => {});
    expect(missing).toEqual([]);
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

  it('continues after the leader was killed', async () => {
    await indexer.kill();
    await indexer.start();
    await add(['d']);
    expect((await collection().select({ rows: 0 })).response.numFound).toBe(4);
  });

  it('continues after an analyzer was killed, and after PostgreSQL was away', async () => {
    const send = (from: number) =>
      collection().add(
        Array.from({ length: 60 }, (_, i) => ({ id: `p${from + i}`, image: `${pictures.url}/${from + i}.jpg` })),
        { async: true },
      );
    await send(0);
    await analyzer.kill();
    const gone = async () => !(await gateway.client.processes()).processes.some(({ role }) => role === 'analyzer');
    await until('the analyzer is listed no more', gone);
    await analyzer.start();
    await untilVisible(64);
    await send(60);
    await proxy.cut();
    await until('the gateway tells that it is away', async () => !(await gateway.isReady()));
    await proxy.mend();
    await untilVisible(124);
  });

  it('shuts down in order', async () => {
    for (const one of all) expect(await one.stop()).toBe(0);
  });
});

describe('PgBouncer in transaction pooling', () => {
  it.each(['gateway', 'indexer', 'analyzer'])('is refused by akin %s at its start, with advice', async (name) => {
    await using pooler = await openPgBouncer(database.url, { pool_mode: 'transaction' });
    const command = new RunningCommand([name, '--port', '0'], { env: { DATABASE_URL: pooler.url } });
    const { code, err } = await command.ended();
    expect([code, err]).toEqual([1, expect.stringMatching(/transaction pooling.*pool_mode = session/)]);
  });
});
