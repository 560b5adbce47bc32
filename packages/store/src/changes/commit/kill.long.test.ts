import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { randomNumbers, SHORT_LIVED, scaledByChaos } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allOperations, checkVisible, type Log, type Sent } from '../../../test/kill-log.ts';
import { maintain } from '../../../test/maintain.ts';
import { type TestLocation, testLocation } from '../../../test/support.ts';
import { parseTinyOutputs, TINY_GROUPS, TINY_MODULES, tinyDescriptorTexts } from '../../../test/tiny-module.mjs';
import { collectionStatus, createCollection, findCollection } from '../../database/collections/collections.ts';
import { dropCollection } from '../../maintenance/drop-collection.ts';
import { listGroups } from '../../maintenance/groups/list-groups.ts';
import { updateGroups } from '../../maintenance/groups/update-groups.ts';
import { openStore } from '../../store.ts';
import { claimForAnalysis, saveAnalysis } from '../analyze/analysis.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';

/** Decides what is sent and when a process is killed; what the processes do at the same time still differs. */
const SEED = Number(process.env.AKIN_SEED ?? randomInt(2 ** 31));
const random = randomNumbers(SEED);

const FEEDER = fileURLToPath(new URL('../../../test/feeder.mjs', import.meta.url));

/** The reports of all feeders. */
interface FeederLog extends Log {
  nextNumber: number;
}

/** Most kills are of the embedded database, which ends with the process, and where most is written in one step. */
const PLACES = [
  { kind: 'pglite', shards: 1, kills: scaledByChaos(4) },
  { kind: 'postgres', shards: 1, kills: scaledByChaos(2) },
  { kind: 'postgres', shards: 3, kills: scaledByChaos(4) },
] as const;

describe.each(PLACES)(
  `a process on $kind with $shards shards that is killed again and again (AKIN_SEED=${SEED})`,
  ({ kind, shards, kills }) => {
    let location: TestLocation;
    let remove: () => Promise<void>;

    beforeAll(async () => {
      ({ location, remove } = await testLocation(kind));
      if (shards === 1) return;
      await using store = await openTinyStore();
      await dropCollection(store, await findCollection(store, 'my-collection'));
      await createCollection(store, 'my-collection', { shards });
    });

    afterAll(() => remove?.());

    it('loses no accepted change, and shows no part of one', async () => {
      const log: FeederLog = { accepted: [], unknown: [], nextNumber: 0 };
      for (let i = 0; i < kills; i++) {
        await feedAndKill(log);
        // Most kills hit the work that the previous one left. Opening takes a while.
        if (i % 2 === 0) continue;
        await using store = await openTinyStore();
        await checkVisible(store, await findCollection(store, 'my-collection'), log);
      }
      expect(log.accepted.length).toBeGreaterThanOrEqual(kills);

      await finish(log);
    });

    /** The work that the last kill left is finished, and all of it is right. */
    async function finish(log: FeederLog): Promise<void> {
      await using store = await openTinyStore();
      const collection = await findCollection(store, 'my-collection');
      const tasks = await claimForAnalysis(store, 10_000);
      await Promise.all(tasks.map((task) => saveAnalysis(store, task, '[0,1]')));
      await commit(store, collection);
      await maintain(store);
      await checkVisible(store, collection, log);
      expect(await collectionStatus(store, collection)).toMatchObject({ pending: 0, failed: 0 });
      const operations = await allOperations(store, collection);
      expect(operations.filter(({ state }) => state !== 'visible' && state !== 'superseded')).toEqual([]);

      expect(await updateGroups(store, collection, TINY_GROUPS, { milliseconds: 60_000 })).toBe(true);
      await checkGroups(store, collection.sqlSchema);
    }

    /**
     * Every document is in one group or alone, near its representative, and counted there. No two groups could be one.
     */
    async function checkGroups(store: Store, S: string): Promise<void> {
      const count = async (sql: string) => Number((await store.engine.query<{ n: bigint }>(sql))[0]?.n);
      const live = await count(
        `select count(*) as n from ${S}.documents d join akin.collections c on c.sql_schema = '${S}'
        where d.valid_from <= c.commit and d.valid_to > c.commit`,
      );
      expect(live).toBeGreaterThan(0);
      expect(await count(`select count(*) as n from ${S}.representatives where not removed`)).toBeGreaterThan(1);
      // Rows that a killed process had pinned still exist, and are in no group.
      expect(
        await count(
          `select count(*) as n from ${S}.documents d join ${S}.descriptors_tiny v using (doc)
           join akin.collections c on c.sql_schema = '${S}'
          where (select count(*) from ${S}.representatives r where r.doc = d.doc) + (select count(*) from ${S}.followers f where f.doc = d.doc)
             <> case when d.valid_to > c.commit then 1 else 0 end`,
        ),
      ).toBe(0);
      expect(
        await count(
          `select count(*) as n from ${S}.representatives r
          where r.removed
             or r.follower_count <> (select count(*) from ${S}.followers f where f.representative = r.doc)`,
        ),
      ).toBe(0);
      expect(
        await count(
          `select count(*) as n from ${S}.followers f join ${S}.representatives r on r.doc = f.representative
          join ${S}.descriptors_tiny v on v.doc = f.doc
         where abs((v.vector <-> r.vector) - f.distance) > 1e-6 or f.distance > ${TINY_GROUPS.maxDistance}`,
        ),
      ).toBe(0);
      expect(
        await count(
          `select count(*) as n from ${S}.representatives a join ${S}.representatives b on a.doc < b.doc
          where a.vector <-> b.vector <= ${TINY_GROUPS.maxDistance}`,
        ),
      ).toBe(0);
      const { groups } = await listGroups(store, await findCollection(store, 'my-collection'), {
        rows: 100,
        members: 100,
      });
      expect(groups.reduce((sum, { size }) => sum + size, 0)).toBe(
        await count(
          `select coalesce(sum(follower_count + 1), 0)::int8 as n from ${S}.representatives where follower_count > 0`,
        ),
      );
    }

    const openTinyStore = async (): Promise<Store> => {
      for (;;) {
        try {
          return await openStore({
            ...location,
            modules: TINY_MODULES as never,
            parseOutputs: parseTinyOutputs,
            descriptorTexts: tinyDescriptorTexts,
            graceMilliseconds: 0,
          });
        } catch (error) {
          // The server needs a moment to notice the killed process.
          if (kind === 'pglite' || (error as { code?: string }).code !== 'conflict') throw error;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    };

    async function feedAndKill(log: FeederLog): Promise<void> {
      const args = [JSON.stringify(location), String(log.nextNumber), String(SEED)];
      const child = spawn(process.execPath, [...SHORT_LIVED, FEEDER, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const killed = once(child, 'exit');
      let sending: readonly Sent[] | undefined;
      let left = 1 + Math.floor(random() * 6);
      for await (const line of createInterface({ input: child.stdout })) {
        const said = readLine(line);
        // The kill has cut it: nothing was sent yet, or nobody knows whether it was accepted.
        if (said === undefined) break;
        if (said.sending) sending = said.sending;
        if (said.accepted !== undefined && sending !== undefined) {
          log.accepted.push({ first: said.accepted, sent: sending });
          sending = undefined;
          if (--left === 0) killLater(child);
        }
      }
      expect((await killed)[1]).toBe('SIGKILL');
      if (sending !== undefined) log.unknown.push(sending);
      log.nextNumber += 100_000;
    }
  },
);

function readLine(line: string): { sending?: readonly Sent[]; accepted?: number } | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function killLater(child: ChildProcess): void {
  setTimeout(() => child.kill('SIGKILL'), random() * 300);
}
