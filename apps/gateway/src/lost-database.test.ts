import { MODULES } from '@akin/modules/manifests';
import { descriptorTexts, parseOutputs } from '@akin/modules/vectors';
import { openStore } from '@akin/store';
import { commit, type Store } from '@akin/store/changes';
import { findCollection } from '@akin/store/database';
import { scaledByChaos, type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, createGateway, type Gateway, postJson, type TestResponse, testConfig } from '../test/start-gateway.ts';

const C = '/api/cores/my-collection';

/** Requests of every kind, repeatedly. */
const REQUESTS: readonly ((gateway: Gateway, n: number) => Promise<TestResponse>)[] = [
  (gateway, n) => postJson(gateway, `${C}/update?commit=true`, [{ id: `a${n % 10}`, n, name: `name ${n}` }]),
  (gateway, n) =>
    postJson(gateway, `/solr/my-collection/update`, { delete: { query: `id:a${n % 10} AND text:[* TO *]` } }),
  (gateway) => ask(gateway, `${C}/select?q=name&facet=true&facet.field=name&fl=*,score`),
  (gateway) => ask(gateway, `${C}/select?q=*:*&cursorMark=*&sort=id%20asc`),
  (gateway) => ask(gateway, `${C}/operations?limit=10`),
  (gateway) => ask(gateway, `${C}/terms?terms.fl=id`),
  (gateway) => ask(gateway, `${C}/schema`),
  (gateway) => ask(gateway, `${C}/groups`),
  (gateway) => ask(gateway, C),
  (gateway) => ask(gateway, '/api/cores'),
  (gateway) => ask(gateway, '/health/ready'),
];

describe('a gateway whose PostgreSQL fails', () => {
  let database: TestDatabase;
  let store: Store;
  let gateway: Gateway;

  beforeAll(async () => {
    database = await testDatabase();
    store = await openStore({
      databaseUrl: database.url,
      modules: MODULES,
      parseOutputs,
      descriptorTexts,
      graceMilliseconds: 0,
    });
    const commitNow = async (name: string) => commit(store, await findCollection(store, name));
    gateway = await createGateway(testConfig({ store, commit: commitNow }));
    // So that there is something to search.
    const first = await postJson(gateway, `${C}/update?commit=true`, [{ id: 'a0', n: 1, name: 'name' }]);
    expect(first.status).toBe(200);
  });

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await store?.[Symbol.asyncDispose]();
    await database?.drop();
  });

  const terminateAll = () =>
    database.run(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  const setIdleLimit = async (limit: string) => {
    await database.run(
      `alter database ${new URL(database.url).pathname.slice(1)} set idle_in_transaction_session_timeout = '${limit}'`,
    );
    // New connections have it.
    await terminateAll();
  };
  const works = async () =>
    (await Promise.all(REQUESTS.map((request) => request(gateway, 1)))).every(({ status }) => status < 400);

  /** Sends requests in parallel until `done`, and returns their responses. */
  const underLoad = async (fail: (responses: readonly TestResponse[]) => Promise<void>) => {
    const responses: TestResponse[] = [];
    let done = false;
    const send = async (worker: number) => {
      for (let n = worker; !done; n++)
        responses.push(await (REQUESTS[n % REQUESTS.length] as (typeof REQUESTS)[0])(gateway, n));
    };
    const workers = Array.from({ length: 8 }, (_, worker) => send(worker));
    try {
      await fail(responses);
    } finally {
      done = true;
      await Promise.all(workers);
    }
    return responses;
  };
  const expectOnlySuccessOr503 = (responses: readonly TestResponse[]) => {
    const unexpected = responses.filter(
      ({ status, headers }) => status !== 200 && !(status === 503 && Number(headers['retry-after']) > 0),
    );
    expect(unexpected.map(({ status, text }) => `${status} ${text}`)).toEqual([]);
  };
  /** Stops this process, so that its open transactions are idle. */
  const stop = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
  const until = async (condition: () => boolean | Promise<boolean>) => {
    while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
  };

  it('answers 503 with Retry-After while connections end', async () => {
    const responses = await underLoad(async (soFar) => {
      for (let round = 1; round <= scaledByChaos(15); round++) {
        await until(() => soFar.length >= 10 * round);
        await terminateAll();
      }
    });
    expectOnlySuccessOr503(responses);
    expect(responses.map(({ status }) => status)).toContain(503);
    await until(works);
  });

  it('answers 503 with Retry-After while idle transactions are terminated', async () => {
    const responses = await underLoad(async (soFar) => {
      await setIdleLimit('1ms');
      // Often enough that most kinds of requests are affected, and more than the end of all connections causes.
      await until(() => {
        stop(2);
        return soFar.filter(({ status }) => status === 503).length >= scaledByChaos(60);
      });
      await setIdleLimit('0');
    });
    expectOnlySuccessOr503(responses);
    await until(works);
  });
});
