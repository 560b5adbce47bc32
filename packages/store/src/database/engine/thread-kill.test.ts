import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, parseJson, TypeClaims, validateDocument } from '@akin/domain';
import { scaledByChaos } from '@akin/testing';
import { expect, it } from '@jest/globals';
import { createFeeding } from '../../../test/feeding.mjs';
import { allOperations, checkVisible, type Log } from '../../../test/kill-log.ts';
import { maintain } from '../../../test/maintain.ts';
import { testLocation } from '../../../test/support.ts';
import { watchThreads } from '../../../test/threads.ts';
import { parseTinyOutputs, TINY_MODULES, tinyDescriptorTexts } from '../../../test/tiny-module.mjs';
import { Staging } from '../../changes/accept/staging.ts';
import { claimForAnalysis, requeueAll, saveAnalysis } from '../../changes/analyze/analysis.ts';
import { commit } from '../../changes/commit/commit.ts';
import { deleteUnaccepted } from '../../maintenance/recover.ts';
import { openStore } from '../../store.ts';
import { collectionStatus, findCollection } from '../collections/collections.ts';
import { loadSchema } from '../collections/schema.ts';

const KILLS = scaledByChaos(5);
const SEED = 7;

it('a thread of the embedded database that is killed repeatedly loses no accepted change', async () => {
  const { location, remove } = await testLocation('pglite');
  const watched = watchThreads('pglite-thread');
  const { threads } = watched;
  const next = createRandom(SEED);
  const random = (below: number) => Math.floor(next() * below);
  const feeding = createFeeding({ loadSchema, parseJson, TypeClaims, validateDocument }, 0, random);
  const log: Log = { accepted: [], unknown: [] };
  const store = await openStore({
    ...location,
    modules: TINY_MODULES as never,
    parseOutputs: parseTinyOutputs,
    descriptorTexts: tinyDescriptorTexts,
    graceMilliseconds: 0,
  });
  const collection = await findCollection(store, 'my-collection');
  const underWay = new Set<string>();
  let going = true;

  /** Works until the end. Only the death of the thread may interrupt it. */
  const keep = async (name: string, work: () => Promise<unknown>) => {
    while (going) {
      underWay.add(name);
      await work().catch((error: { code?: string }) => {
        if (error.code !== 'unavailable') throw error;
      });
      underWay.delete(name);
      await delay(random(10));
    }
  };
  const feed = async () => {
    const sent = feeding.make();
    try {
      const staging = new Staging(store, collection);
      for (let i = 0; i < sent.length; i += 10) {
        await staging.add(await feeding.changesOf(store, collection, sent.slice(i, i + 10)));
        await staging.flush();
      }
      log.accepted.push({ first: (await staging.accept()).first, sent });
    } catch (error) {
      log.unknown.push(sent);
      throw error;
    }
  };
  const analyze = async () => {
    for (const task of await claimForAnalysis(store, 20)) await saveAnalysis(store, task, '[0,1]', new Uint8Array([1]));
  };
  const kill = async () => {
    for (let i = 0; i < KILLS; i++) {
      const accepted = log.accepted.length;
      while (log.accepted.length === accepted) await delay(1);
      await delay(random(60));
      while (!underWay.has(i % 2 === 0 ? 'update' : 'commit')) await delay(1);
      await threads.at(-1)?.terminate();
    }
    going = false;
  };
  await Promise.all([
    kill(),
    keep('update', feed),
    keep('analysis', analyze),
    keep('commit', () => commit(store, collection)),
    keep('maintenance', () => maintain(store)),
  ]);
  watched.end();
  expect(threads.length).toBeGreaterThanOrEqual(KILLS);
  expect(log.accepted.length).toBeGreaterThanOrEqual(KILLS);

  // Like the sweep, but sooner.
  await deleteUnaccepted(store, collection, 0);
  await requeueAll(store, collection);
  for (const task of await claimForAnalysis(store, 10_000)) await saveAnalysis(store, task, '[0,1]');
  await commit(store, collection);
  await checkVisible(store, collection, log);
  expect(await collectionStatus(store, collection)).toMatchObject({ pending: 0, failed: 0 });
  const operations = await allOperations(store, collection);
  const sent = log.accepted.reduce((sum, request) => sum + request.sent.length, 0);
  expect(operations.length).toBeGreaterThanOrEqual(sent);
  expect(operations.filter(({ state }) => state !== 'visible' && state !== 'superseded')).toEqual([]);
  await store[Symbol.asyncDispose]();
  await remove();
});
