import { drawImage, openPgBouncer, type Server, type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RunningCommand, until } from './akin.ts';
import { type FleetProcess, type Pictures, servePictures, startFleet } from './fleet.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database?.drop());

describe('a fleet without Redis behind PgBouncer, in session pooling', () => {
  let pooler: Server;
  let pictures: Pictures;
  let gateway: FleetProcess;
  let indexer: FleetProcess;
  let all: readonly FleetProcess[] = [];
  const collection = () => gateway.client.collection('my-collection');
  const add = (ids: readonly string[]) =>
    collection().add(
      ids.map((id) => ({ id, image: `${pictures.url}/${id}.jpg` })),
      { commit: true },
    );

  beforeAll(async () => {
    // As many as docs/servers.md says: 11 each of gateway and indexer, 8 each of the queues.
    pooler = await openPgBouncer(database.url, { pool_mode: 'session', default_pool_size: '38' });
    pictures = await servePictures(await drawImage({ width: 160, height: 120 }));
    ({ gateway, indexer, all } = await startFleet({ DATABASE_URL: pooler.url }));
    for (const one of all) await until(`${one.name} is ready`, () => one.isReady());
  });
  afterAll(async () => {
    for (const one of all) await one.kill();
    pictures?.close();
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

  it('continues after the leader was killed', async () => {
    await indexer.kill();
    await indexer.start();
    await add(['d']);
    expect((await collection().select({ rows: 0 })).response.numFound).toBe(4);
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
