import type { Collection, NewDocument } from '@akin/client';
import {
  type BreakableProxy,
  openProxy,
  type ReplicatedPostgres,
  randomNumbers,
  replicatedPostgres,
  scaledByChaos,
} from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from './akin.ts';
import { ChaosClient, retryRequest } from './chaos.ts';
import { FleetProcess } from './fleet.ts';
import { STAMPED, stampedDocuments, stampedId, type WatchResult, watchStamps } from './stamps.ts';

const SEED = Number(process.env.AKIN_CHAOS_SEED ?? 1);
/** Kills of indexers and of gateways, before the primary is killed. */
const KILLS = scaledByChaos(1);
const CLIENTS = ['ann', 'bob'];
const COLLECTION = 'sharded';
/** Otherwise a promotion waits half a minute for searches that block the replay. */
const SETTINGS = { max_standby_streaming_delay: '500ms' };
/** The leader applies the first 2,000 changes of a commit alone; these documents come after them. */
const LAST_ONES = `${stampedId(2)}___`;

describe('a fleet with a collection of four shards, three indexers, two gateways and a standby', () => {
  let servers: ReplicatedPostgres;
  /** The host name of the primary. */
  let proxy: BreakableProxy;
  let primary: Pick<ReplicatedPostgres['primary'], 'run' | 'hold'>;
  let gateways: FleetProcess[] = [];
  let indexers: FleetProcess[] = [];
  let schema: string;
  let documentsOf: (stamp: number) => NewDocument[];
  const standby = () => servers.standbys[0] as ReplicatedPostgres['standbys'][number];
  const collections = () => gateways.map(({ client }) => client.collection(COLLECTION));
  const collectionOf = (gateway: number) => collections()[gateway] as Collection;

  beforeAll(async () => {
    servers = await replicatedPostgres(1, SETTINGS);
    primary = servers.primary;
    await servers.confirmOnStandby();
    proxy = await openProxy(servers.primary.url);
    const env = { DATABASE_URL: proxy.url, REDIS_URL: '', AKIN_NO_THROTTLE: '1', AKIN_AUTO_COMMIT: '500' };
    gateways = [0, 1].map(() => new FleetProcess('gateway', { ...env, SEARCH_DATABASE_URL: standby().url }));
    indexers = [0, 1, 2].map(() => new FleetProcess('indexer', env));
    const all = [...gateways, ...indexers];
    await Promise.all(all.map((one) => one.start()));
    for (const one of all) await until(`${one.name} is ready`, () => one.isReady());
    await collectionOf(0).create({ shards: 4 });
    const sql = 'select sql_schema as schema from akin.collections where name = $1';
    [{ schema } = { schema: '' }] = await primary.run<{ schema: string }>(sql, [COLLECTION]);
    documentsOf = await stampedDocuments();
  });
  afterAll(async () => {
    for (const one of [...gateways, ...indexers]) await one.kill();
    await proxy?.[Symbol.asyncDispose]();
    await servers?.[Symbol.asyncDispose]();
  });

  /**
   * Stamps all documents, and deletes those with an older stamp, of which there are none by then.
   * @returns its token
   */
  async function stampAll(stamp: number): Promise<string> {
    await retryRequest(() => collectionOf(0).add(documentsOf(stamp), { async: true }));
    const { responseHeader } = await retryRequest(() => collectionOf(1).deleteByQuery(`stamp:[* TO ${stamp - 1}]`));
    return responseHeader.token as string;
  }

  /** Waits until both gateways show the changes of a token. */
  async function visible(token: string, stamp: number): Promise<void> {
    for (const collection of collections()) {
      const query = { q: `stamp:${stamp}`, rows: 0, after: token };
      const { response } = await retryRequest(() => collection.select(query));
      expect(response.numFound).toBe(STAMPED);
    }
  }

  /**
   * Indexers in the middle of a shard, which they cannot finish because a row of it is locked.
   */
  async function heldIndexers(): Promise<{ leader: FleetProcess | undefined; helpers: FleetProcess[] }> {
    const inside = await primary.run<{ pid: number; leads: boolean }>(
      `select pid, pid = (select split_part(l.holder, ' ', 2)::int from akin.leases l join akin.collections c
                           on c.id = l.collection where c.name = $1) as leads
         from (select distinct split_part(application_name, ' ', 4)::int as pid from pg_stat_activity
                where application_name like 'akin indexer %' and wait_event_type = 'Lock'
                  and query ~ '^update .*documents set valid_to') as held
        where exists (select from akin.shard_leases)`,
      [COLLECTION],
    );
    const of = (leads: boolean) =>
      indexers.filter((one) => inside.some((row) => row.pid === one.pid && row.leads === leads));
    return { leader: of(true)[0], helpers: of(false) };
  }

  /** Stamps all documents, and kills an indexer in the middle of a shard by SIGKILL. */
  async function killInShard(stamp: number, who: 'leader' | 'helper') {
    const held = await primary.hold(`select from ${schema}.documents where id like $1 for update`, [LAST_ONES]);
    const token = await stampAll(stamp);
    let killed: FleetProcess | undefined;
    await until(`a ${who} and another indexer are in shards`, async () => {
      const { leader, helpers } = await heldIndexers();
      killed = leader && helpers.length > 0 ? (who === 'leader' ? leader : helpers[0]) : undefined;
      return killed !== undefined;
    });
    await killed?.kill();
    return { token, held, killed: killed as FleetProcess };
  }

  const hasReadStandby = async (gateway: FleetProcess) =>
    /^akin_standby_reads_total\{.*result="answered"\} [1-9]/m.test(String((await gateway.get('/metrics')).body));

  it('loses nothing and shows only whole commits while processes and the primary are killed and a standby lags and is promoted', async () => {
    const stop = new AbortController();
    const clients = CLIENTS.map((name, i) => new ChaosClient(name, collectionOf(i), randomNumbers(SEED * 100 + i)));
    const watched: WatchResult = { wrong: [], failed: [], answered: 0 };
    let stamp = 1;
    await visible(await stampAll(stamp), stamp);
    const running = Promise.all([
      ...clients.map((client) => client.run(stop.signal)),
      ...[collections(), collections().reverse()].map((order) => watchStamps(order, watched, stop.signal)),
    ]);
    // All fields exist already: a new one would wait for the lock.
    const hasAll = ({ model }: ChaosClient) => [...model.keys()].some((id) => id.includes('together'));
    await until('clients have changed documents of all kinds', async () => clients.every(hasAll));

    for (let kill = 0; kill < KILLS; kill++) {
      const { token, held, killed } = await killInShard(++stamp, kill % 2 === 0 ? 'helper' : 'leader');
      if (kill % 2 === 1) await standby().pause();
      await held.release();
      await visible(token, stamp);
      if (kill % 2 === 1) await standby().resume();
      await killed.start();
    }
    await standby().catchUp();
    // Searches continued.
    expect(watched.failed).toEqual([]);
    await until('both gateways have read from the standby', async () =>
      (await Promise.all(gateways.map(hasReadStandby))).every(Boolean),
    );

    for (let kill = 0; kill < KILLS; kill++) {
      const stamping = stampAll(++stamp);
      const gateway = gateways[kill % gateways.length] as FleetProcess;
      await gateway.kill();
      await gateway.start();
      await visible(await stamping, stamp);
    }

    await standby().pause();
    const { token } = await killInShard(++stamp, 'leader');
    await servers.primary.kill();
    await standby().promote();
    primary = standby();
    proxy.redirect(standby().url);
    await visible(token, stamp);

    stop.abort();
    await running;
    expect(watched.wrong).toEqual([]);
    expect(watched.answered).toBeGreaterThan(20);
    const expected = new Map(Array.from({ length: STAMPED }, (_, i) => [stampedId(i), stamp]));
    for (const { model } of clients) for (const [id, version] of model) expected.set(id, version);
    await collectionOf(0).commit();
    for (const collection of collections()) {
      const found = new Map<string, number>();
      for await (const doc of collection.all({ fl: 'id,stamp,version' }))
        found.set(doc.id as string, Number(doc.stamp ?? doc.version));
      expect(found).toEqual(expected);
      expect(await collection.status()).toMatchObject({ documents: expected.size, pending: 0, failed: 0 });
    }
  });
});
