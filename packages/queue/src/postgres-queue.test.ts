import { openPgBouncer, openProxy, type Server, type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { brokenServer } from '../test/broken-server.ts';
import { queueContract } from '../test/queue-contract.ts';
import { createPostgresQueue } from './index.ts';

let database: TestDatabase;
let pooler: Server;
let opened = 0;
const nextPrefix = () => `test-${opened++}`;

beforeAll(async () => {
  database = await testDatabase();
  pooler = await openPgBouncer(database.url, { pool_mode: 'session', default_pool_size: '60' });
});
afterAll(async () => {
  await pooler?.[Symbol.asyncDispose]();
  await database.drop();
});

queueContract('on PostgreSQL', () => createPostgresQueue({ url: database.url, prefix: nextPrefix() }));
queueContract('on PostgreSQL behind PgBouncer', () => createPostgresQueue({ url: pooler.url, prefix: nextPrefix() }));

const PAYLOAD = { collection: 1, request: '1', position: 0, attempt: 1, image: 'http://images.example/a.jpg' };

describe('a queue on PostgreSQL', () => {
  it('shares jobs with processes of the same contract, and with no others', async () => {
    const prefix = nextPrefix();
    const open = (contract: string) => createPostgresQueue({ url: database.url, prefix, contract });
    await using adding = await open('content=akin-4');
    await using working = await open('content=akin-4');
    await using other = await open('content=akin-1');
    other.work('analyze', () => Promise.reject(new Error('another model')), { concurrency: 1 });
    const handled = new Promise((resolve) => {
      working.work('analyze', async ({ id }) => resolve(id), { concurrency: 1 });
    });
    await adding.add('analyze', PAYLOAD, { id: 'a' });
    expect(await other.liveJobs('analyze', ['a'])).toEqual(new Set());
    expect(await handled).toBe('a');
    expect(await other.announcedContracts()).toEqual([]);
    await adding.announce();
    await adding.announce();
    expect(await other.announcedContracts()).toEqual(['content=akin-4']);
  });

  it('can be opened by several processes at the same time on an empty database', async () => {
    const empty = await testDatabase();
    const queues = await Promise.all(Array.from({ length: 4 }, () => createPostgresQueue({ url: empty.url })));
    for (const queue of queues) expect((await queue.counts('analyze')).waiting).toBe(0);
    for (const queue of queues) await queue[Symbol.asyncDispose]();
    await empty.drop();
  });

  it('refuses a pooler that pools by transaction, by name', async () => {
    await using transactions = await openPgBouncer(database.url, { pool_mode: 'transaction' });
    await expect(createPostgresQueue({ url: transactions.url })).rejects.toThrow(/transaction pooling/);
  });

  it('says why the server refuses the connection', async () => {
    const url = new URL(database.url);
    url.pathname = '/absent';
    await expect(createPostgresQueue({ url: url.href })).rejects.toMatchObject({
      name: 'QueueUnavailableError',
      message: `PostgreSQL at ${url.host} refuses the connection: database "absent" does not exist`,
    });
  });

  it('says where no server answers, without a password', async () => {
    const proxy = await openProxy(database.url);
    await proxy.cut();
    const url = new URL(proxy.url);
    url.password = 'secret';
    await expect(createPostgresQueue({ url: url.href })).rejects.toThrow(
      `PostgreSQL at ${url.host} does not answer: start it, or name another one`,
    );
  });
});

brokenServer(
  'PostgreSQL',
  () => database.url,
  (url, log) => createPostgresQueue({ url, prefix: nextPrefix(), ...log }),
);
