import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRandom, parseJson, parseQuery, TypeClaims, validateDocument } from '@akin/domain';
import { createWorkerServer, type Gateway } from '@akin/gateway';
import { type Metrics, sleep } from '@akin/runtime';
import { createLogger, createMetrics } from '@akin/runtime/observability';
import {
  type Collection,
  commit,
  createCollection,
  type Lease,
  loadSchema,
  openStore,
  type SearchInput,
  type SearchNodes,
  type Store,
  search,
  stageChanges,
  takeLeases,
} from '@akin/store';
import { type BreakableProxy, openProxy, type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { findCandidatesIn } from './run-search-node.ts';
import { searchNodes } from './search-nodes.ts';

const SHARDS = 4;
const DOCUMENTS = 1_200;
const EXACT = 200;
const NUMBERS = 32;
const FLEET_KEY = 'a-secret-of-the-fleet';
const NEVER = new AbortController().signal;

const random = createRandom(7);
const vector = () => {
  const numbers = Float32Array.from({ length: NUMBERS }, () => random() - 0.5);
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
};
const document = (n: number) => ({
  id: `d${n}`,
  n,
  color: n % 3 === 0 ? 'red' : 'blue',
  import: [...vector()].join(','),
});

const config = {
  shared: true,
  exactDocuments: EXACT,
  modules: [
    {
      name: 'shape',
      outputs: [{ name: 'shape_descriptor', type: 'string', returnedByDefault: false }],
      descriptor: { output: 'shape_descriptor', cell: 'shape_cluster', dimensions: NUMBERS },
    },
  ],
  parseOutputs: (text: string) => ({
    fields: new Map([['shape_descriptor', text]]),
    descriptors: new Map([['shape', { vector: Float32Array.from(text.split(','), Number), cell: 0 }]]),
  }),
} as const;

describe('search nodes', () => {
  let database: TestDatabase;
  let local: Store;
  let collection: Collection;
  let lease: Lease | undefined;
  /** The connections of both nodes to the database. */
  let ways: BreakableProxy[];
  let stores: Store[];
  let nodes: Gateway[];
  const opened: AsyncDisposable[] = [];
  const servers: Server[] = [];
  let metrics: Metrics;

  const log = createLogger({ name: 'test', level: 'silent', destination: { write: () => {} } });

  beforeAll(async () => {
    database = await testDatabase();
    local = await openStore({ ...config, databaseUrl: database.url });
    collection = await createCollection(local, 'pictures', { shards: SHARDS });
    lease = (await takeLeases(local, [{ collection, hasModels: true }], 'a test', 600_000)).get(collection.id);
    await add(Array.from({ length: DOCUMENTS }, (_, n) => document(n)));
    ways = [await openProxy(database.url), await openProxy(database.url)];
    stores = [];
    for (const { url } of ways) stores.push(await openStore({ ...config, databaseUrl: url }));
    nodes = [await startNode(0, [0, 1, 2]), await startNode(1, [1, 2, 3])];
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  afterAll(async () => {
    for (const one of [...(nodes ?? []), ...(stores ?? []), ...(ways ?? [])]) await one[Symbol.asyncDispose]();
    await local?.[Symbol.asyncDispose]();
    await database?.drop();
  });

  async function add(documents: readonly object[], to = collection, by = lease): Promise<void> {
    const { fields } = await loadSchema(local, to);
    const claims = new TypeClaims();
    const staging = stageChanges(local, to, {});
    const changes = documents.map((one, position) => {
      const read = validateDocument(parseJson(JSON.stringify(one)), position, fields, claims);
      if ('errors' in read) throw new Error(read.errors[0]?.msg);
      return { kind: 'add', document: read.document } as const;
    });
    await staging.add(changes);
    await staging.accept();
    await commit(local, to, by);
  }
  const storeOf = (i: number): Store => stores[i] as Store;
  const urlOf = (i: number): string => nodes[i]?.url as string;

  /** A node of another store, for a test that ends it. */
  function startNode(
    i: number,
    holds?: readonly number[],
    wait: () => Promise<void> = async () => {},
  ): Promise<Gateway> {
    const find = findCandidatesIn(() => storeOf(i), holds);
    return createWorkerServer({
      ...{ log, metrics: createMetrics(), access: { requireKeys: true, fleetKey: FLEET_KEY } },
      ready: () => storeOf(i).ping(),
      findCandidates: async (...asked) => {
        await wait();
        return find(...asked);
      },
      limits: { shutdownMilliseconds: 0 },
    });
  }

  /** What a gateway with these nodes finds. */
  function gateway(urls: readonly string[], more: Partial<Parameters<typeof searchNodes>[0]> = {}) {
    metrics = createMetrics();
    const found = searchNodes({ urls, fleetKey: FLEET_KEY, log, metrics, ...more });
    return finding(found);
  }
  const finding = (found: SearchNodes | undefined) => (question: Partial<SearchInput>) =>
    ask({ ...local, nodes: found }, question);

  async function ask(store: Store, question: Partial<SearchInput>) {
    const rank = { module: 'shape', vector: target, smartfilter: 'off' } as const;
    const whole = { query: parseQuery('*:*'), rows: 10, ...question };
    const { hits, ranking, commit, ...others } = await search(store, collection, {
      ...whole,
      rank: { ...rank, ...question.rank },
    });
    return {
      ...others,
      hits: hits.map(({ id, distance }) => [id, distance]),
      exact: ranking?.exact,
      inMemory: ranking?.inMemory,
    };
  }
  const ends = async (end: string) =>
    [...(await metrics.text()).text.matchAll(/^akin_search_node_attempts_total\{(.*)\} (\d+)$/gm)]
      .filter(([, labels]) => labels?.includes(`outcome="${end}"`))
      .reduce((sum, [, , count]) => sum + Number(count), 0);
  const misses = async () =>
    Number(/^akin_search_node_misses_total (\d+)$/m.exec((await metrics.text()).text)?.[1] ?? 0);

  const target = vector();
  const filters = (...fq: readonly string[]) => ({ filters: fq.map((one) => parseQuery(one)) });
  const red = parseQuery('color:red');
  const QUESTIONS: readonly [string, Partial<SearchInput>][] = [
    ['the nearest', {}],
    ['a later page', { start: 90, rows: 20 }],
    ['no page', { rows: 0 }],
    ['one filter', filters('color:red')],
    ['filters and q', { query: parseQuery('n:[100 TO *]'), ...filters('color:red', '-n:300', 'color:r*') }],
    ['a filter that most documents match', filters('n:[10 TO *]')],
    ['a filter of one', filters('id:d17')],
    ['a filter of none', filters('n:[5000 TO *]')],
    ['words that expand to others', filters('text:bluu~1')],
    ['a date', filters('n:[0 TO 600] OR n:[700 TO 800]')],
    ['a filter that is not cached', { filters: [red], uncached: new Set([red]) }],
    ['a threshold', { rank: { module: 'shape', vector: target, maxDistance: 1.2 } }],
    [
      'a threshold and a filter',
      { rank: { module: 'shape', vector: target, maxDistance: 1.25 }, ...filters('color:red') },
    ],
    [
      'facets',
      {
        filters: [red],
        facets: [
          { kind: 'query', query: parseQuery('n:[0 TO 99]') },
          { kind: 'query', query: parseQuery('color:blue'), excludedQueries: new Set([red]) },
          { kind: 'field', field: 'color', limit: 5, offset: 0, mincount: 1, sort: 'count', missing: true },
        ],
      },
    ],
  ];

  it.each(QUESTIONS)('find the same as the searcher of one process: %s', async (_, question) => {
    const one = await ask(local, question);
    const found = await gateway([urlOf(0), urlOf(1)])(question);
    expect(found).toEqual(one);
    expect([found.inMemory, await misses()]).toEqual([true, 0]);
    // Of shard 3 only the database can tell.
    expect(await gateway([urlOf(0)])(question)).toEqual(one);
    expect(await ask({ ...local, nodes: { findCandidates: async () => undefined } }, question)).toMatchObject({
      hits: one.hits,
    });
  });

  it('find most of the nearest documents if not all are compared', async () => {
    const exact = await ask(local, {});
    const rank = { module: 'shape', vector: target, smartfilter: 'low' } as const;
    const found = await gateway([urlOf(0), urlOf(1)])({ rank });
    expect(found).toMatchObject({ exact: false, inMemory: true, numFound: DOCUMENTS });
    const ids = new Set(found.hits.map(([id]) => id));
    expect(exact.hits.filter(([id]) => ids.has(id)).length).toBeGreaterThanOrEqual(9);
  });

  it('are not used for collections with one shard, and refuse clients without the fleet key', async () => {
    const find = gateway([urlOf(0), urlOf(1)], { fleetKey: 'another-secret-of-a-fleet' });
    expect(await find({})).toEqual({ ...(await ask(local, {})), inMemory: false });
    expect([(await ends('failed')) > 0, await misses()]).toEqual([true, 1]);
    const post = (body: string, path = 'shards=0&readMilliseconds=0', key = FLEET_KEY) =>
      fetch(`${urlOf(0)}/internal/candidates?${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      });
    expect((await post('{}', undefined, 'another-secret-of-a-fleet')).status).toBe(401);
    for (const body of ['', '{', 'null', '[]', '{}', '{"version":2}', '{"near":{}}', `{"near":${'['.repeat(50_000)}`]) {
      expect([body.slice(0, 20), (await post(body)).status]).toEqual([body.slice(0, 20), 400]);
    }
    for (const path of [
      '',
      'shards=0',
      'shards=0,0&readMilliseconds=0',
      'shards=64&readMilliseconds=0',
      'shards=x&readMilliseconds=0',
    ]) {
      expect([path, (await post('{}', path)).status]).toEqual([path, 400]);
    }
    expect((await fetch(`${urlOf(0)}/health/ready`)).status).toBe(200);
  });

  it('replace a node that is gone; without any node the database answers', async () => {
    const third = await startNode(0);
    opened.push(third);
    const find = gateway([third.url, urlOf(0), urlOf(1)]);
    const expected = await ask(local, {});
    for (let i = 0; i < 3; i++) expect(await find({})).toEqual(expected);
    await third[Symbol.asyncDispose]();
    for (let i = 0; i < 6; i++) expect(await find({})).toEqual(expected);
    expect([await misses(), (await ends('failed')) > 0]).toEqual([0, true]);
    const nobody = gateway([third.url]);
    for (let i = 0; i < 3; i++) expect(await nobody({})).toEqual({ ...expected, inMemory: false });
    expect(await misses()).toBe(3);
  });

  it('are asked again after no node had some shard: one may have it after a restart', async () => {
    const shards = [0, 1, 2];
    const node = await startNode(0, shards);
    opened.push(node);
    const find = gateway([node.url], { times: { retryMissingMilliseconds: 0 } });
    for (let i = 0; i < 2; i++) await find({});
    expect(await misses()).toBe(2);
    shards.push(3);
    // The first search may still find no node that has it, because the node has to read it.
    let before: number;
    do {
      before = await misses();
      await find({});
    } while ((await misses()) > before);
  });

  it('leave to the database only the shards that no node has', async () => {
    const nothing = {
      ...{ matches: 0, compared: 0, isExact: true, isOverLimit: false, docs: new Float64Array() },
      ...{ low: new Float32Array(), estimate: new Float32Array(), high: new Float32Array() },
    };
    // Whatever the shards have that nodes hold, these find nothing there.
    const blind = finding({
      findCandidates: async ({ countIndexes }, { acceptsPartial } = {}) =>
        acceptsPartial
          ? [{ shards: [0, 1, 2], assignedShards: undefined, candidates: nothing, counts: countIndexes.map(() => 0) }]
          : [],
    });
    const inShard = await local.engine.query<{ id: string }>(`select id from ${collection.sqlSchema}.documents_s3`);
    const ids = new Set(inShard.map(({ id }) => id));
    const red = { ...filters('color:red'), rows: DOCUMENTS / 2 };
    const expected = (await ask(local, red)).hits.filter(([id]) => ids.has(id as string));
    expect(expected.length).toBeGreaterThan(50);
    const facets = [{ kind: 'query', query: parseQuery('id:*') }] as const;
    expect(await blind({ ...red, facets })).toMatchObject({
      ...{ hits: expected, numFound: expected.length },
      facets: [{ kind: 'query', count: expected.length }],
    });
  });

  it('leave all shards to the database where more are equally near than are looked at', async () => {
    const copies = await createCollection(local, 'copies', { shards: SHARDS });
    const own = (await takeLeases(local, [{ collection: copies, hasModels: true }], 'a test', 600_000)).get(copies.id);
    const same = [...target].join(',');
    // Those of the page come last.
    const all = Array.from({ length: 600 }, (_, n) => ({ ...document(n), import: same }));
    await add(all.reverse(), copies, own);
    const nodes = searchNodes({ urls: [urlOf(0)], fleetKey: FLEET_KEY, log, metrics: createMetrics() });
    let last: readonly number[] = [];
    const listening: SearchNodes = {
      findCandidates: async (...asked) => {
        const responses = await nodes.findCandidates(...asked);
        last = responses?.flatMap(({ shards }) => shards).sort() ?? [];
        return responses;
      },
    };
    const rank = { module: 'shape', vector: target, smartfilter: 'off' } as const;
    const question = { query: parseQuery('*:*'), rank, rows: 10 };
    const find = (store: Store) => search(store, copies, question);
    const expected = await find(local);
    let found = await find({ ...local, nodes: listening });
    // A node reads its shards at the first search.
    while (last.length < 3) found = await find({ ...local, nodes: listening });
    expect([last, found.hits, found.numFound]).toEqual([[0, 1, 2], expected.hits, expected.numFound]);
  });

  it('stop their work after the client has gone', async () => {
    const waiting = createServer();
    const asked = new Promise<IncomingMessage>((resolve) => waiting.on('request', resolve));
    servers.push(waiting);
    await new Promise<void>((resolve) => waiting.listen(0, '127.0.0.1', resolve));
    const { port } = waiting.address() as AddressInfo;
    const gone = new AbortController();
    const found = gateway([`http://127.0.0.1:${port}`])({ signal: gone.signal });
    const { socket } = await asked;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    gone.abort(new Error('the client is gone'));
    await expect(found).rejects.toThrow('the client is gone');
    await closed;
    expect([await misses(), await ends('given up')]).toEqual([0, 1]);
  });

  it('replace a slow node, whose response is then ignored', async () => {
    let release = () => {};
    let isAsked = false;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = await startNode(0, undefined, () => {
      isAsked = true;
      return released;
    });
    opened.push(slow);
    const find = gateway([slow.url, urlOf(0), urlOf(1)], { times: { hedgeMilliseconds: 20 } });
    const expected = await ask(local, {});
    for (let i = 0; i < 3; i++) expect(await find({})).toEqual(expected);
    expect([isAsked, await misses(), (await ends('given up')) > 0]).toEqual([true, 0, true]);
    release();
  });

  it('obey the time limit of the search, and its snapshot stays open while they work', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = await startNode(0, undefined, () => released);
    opened.push(slow);
    const expected = await ask(local, {});
    const late = await gateway([slow.url])({ timeAllowed: 5_000 });
    expect([late.hits, late.inMemory, await misses()]).toEqual([expected.hits, false, 1]);
    // With facets a search is one transaction.
    const facets = [{ kind: 'query', query: red }] as const;
    const found = gateway([slow.url])({ facets });
    const isKept = () =>
      local.engine.query(
        `select from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction' and query = 'select 1 as busy'`,
      );
    while ((await isKept()).length === 0) await sleep(10, NEVER);
    release();
    expect(await found).toMatchObject({ hits: expected.hits });
  });

  it('leave out a node that hangs', async () => {
    let asked = 0;
    const hanging = createServer((request) => {
      if (request.url?.startsWith('/internal')) asked++;
    });
    servers.push(hanging);
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
    const { port } = hanging.address() as AddressInfo;
    const times = { hedgeMilliseconds: 10, probeMilliseconds: 2_000, openMilliseconds: 1e6 };
    const find = gateway([`http://127.0.0.1:${port}`, urlOf(0), urlOf(1)], { times });
    const expected = await ask(local, {});
    const isOpen = async () =>
      (await metrics.text()).text.includes(`akin_search_node_circuit_open{node="127.0.0.1:${port}"} 1`);
    while (!(await isOpen())) {
      expect(await find({})).toEqual(expected);
      await sleep(1, NEVER);
    }
    const before = asked;
    for (let i = 0; i < 4; i++) expect(await find({})).toEqual(expected);
    expect([asked, await misses()]).toEqual([before, 0]);
  });

  it('answer for the requested commit, and leave shards that they do not have to others', async () => {
    const all = await startNode(1);
    const behind = await startNode(0);
    opened.push(all, behind);
    const find = gateway([behind.url, all.url]);
    for (let i = 0; i < 2; i++) expect((await find({})).inMemory).toBe(true);
    await ways[0]?.cut();
    try {
      const copy = { ...document(0), id: 'copy', import: [...target].join(',') };
      await add([copy, ...Array.from({ length: 50 }, (_, n) => document(n))]);
      const expected = await ask(local, {});
      expect(expected.hits[0]?.[0]).toBe('copy');
      for (let i = 0; i < 4; i++) expect(await find({})).toEqual(expected);
      expect([(await ends('failed')) > 0, await misses()]).toEqual([true, 0]);
    } finally {
      await ways[0]?.mend();
    }
    // It catches up without help.
    const alone = gateway([behind.url]);
    const expected = await ask(local, {});
    let found = await alone({});
    while (!found.inMemory) found = await alone({});
    expect(found).toEqual(expected);
  });

  it('are asked again if commits have happened since the search began', async () => {
    const nodes = (): SearchNodes =>
      searchNodes({ urls: [urlOf(0), urlOf(1)], fleetKey: FLEET_KEY, log, metrics: createMetrics() });
    const others = finding(nodes());
    await others({});
    const asked = nodes();
    let commits = 0;
    const find = finding({
      findCandidates: async (...question) => {
        for (; commits < 2; commits++) await add([document(commits)]);
        if (commits++ === 2) expect((await others({})).inMemory).toBe(true);
        return asked.findCandidates(...question);
      },
    });
    // With a facet, a search is one snapshot.
    const question = { facets: [{ kind: 'query', query: red }] } as const;
    const found = await find(question);
    expect(commits).toBe(4);
    expect(found).toEqual(await ask(local, question));
    expect(found.inMemory).toBe(true);
  });

  it('do not confuse a commit with another one of the same number that a failover lost', async () => {
    const find = gateway([urlOf(0), urlOf(1)]);
    expect((await find({})).inMemory).toBe(true);
    const shown = local.memory.visibleCommits.get(collection.id);
    if (shown === undefined) throw new Error('nothing was shown');
    const other = searchNodes({ urls: [urlOf(0), urlOf(1)], fleetKey: FLEET_KEY, log, metrics: createMetrics() });
    const lost = finding({
      findCandidates: (question) => other.findCandidates({ ...question, committedAt: '2020-01-01 00:00:00+00' }),
    });
    expect((await lost({})).inMemory).toBe(false);
  });
});
