import { MODULES } from '@akin/modules/manifests';
import {
  calibrations,
  decodeDescriptor,
  descriptorTexts,
  distance,
  groupRule,
  models,
  parseOutputs,
} from '@akin/modules/vectors';
import { openStore, type StoreConfig } from '@akin/store';
import { commit, type Store } from '@akin/store/changes';
import { createCollection, findCollection } from '@akin/store/database';
import { updateGroups } from '@akin/store/maintenance';
import { type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, createGateway, type Gateway, postJson, testConfig } from '../../test/start-gateway.ts';

/** The calibration of an earlier akin: the score of the distance d was 1 - d / 2. */
const EARLIER = {
  models: new Map([...models().keys()].map((module) => [module, 'earlier-1'])),
  calibrations: new Map(
    [...models().keys()].map((module) => [
      module,
      [
        [0, 1],
        [2, 0],
      ] as const,
    ]),
  ),
};
const TODAY = { models: models(), calibrations: calibrations() };

let database: TestDatabase;
let store: Store;
let gateway: Gateway;

/** Replaces the gateway by one with these models. */
async function start(own: Partial<typeof EARLIER> | typeof TODAY): Promise<void> {
  await close();
  store = await openStore({
    databaseUrl: database.url,
    modules: MODULES,
    parseOutputs: parse,
    descriptorTexts,
    ...own,
  });
  gateway = await createGateway(
    testConfig({ store, commit: async (name) => commit(store, await findCollection(store, name)) }),
  );
}

/** The models of the outputs are those that the store was opened with. */
const parse: StoreConfig['parseOutputs'] = (json, rankOnly) => {
  const { fields, descriptors } = parseOutputs(json, rankOnly);
  return {
    fields,
    descriptors: new Map(
      Array.from(descriptors, ([module, { vector, halves, codes }]) => [module, { vector, halves, codes }]),
    ),
  };
};

async function close(): Promise<void> {
  await gateway?.[Symbol.asyncDispose]();
  await store?.[Symbol.asyncDispose]();
}

async function fill(name: string): Promise<void> {
  const collection = await createCollection(store, name);
  const documents = ['red', 'red-2', 'red-copy', 'blue'].map((id) => ({ id, import: outputsOf(id), labels: [id] }));
  expect((await postJson(gateway, `/api/cores/${name}/update?commit=true`, documents)).status).toBe(200);
  expect(await updateGroups(store, collection, groupRule(), { milliseconds: 60_000 })).toBe(true);
}

beforeAll(async () => {
  database = await testDatabase();
  await start(EARLIER);
  await fill('shop');
  await start({ models: EARLIER.models });
  await fill('untold');
  await start({ models: new Map([...models(), ['color', 'earlier-1']]) });
  await fill('colours-untold');
  await start(TODAY);
});
afterAll(async () => {
  await close();
  await database?.drop();
});

/** The score of two pictures by the calibration of the earlier akin. */
function scoreOfPair(module: string, one: string, other: string): number {
  const [a, b] = [one, other].map((picture) =>
    decodeDescriptor(JSON.parse(outputsOf(picture))[`${module}_descriptor`], module),
  );
  return 1 - distance(a as Float32Array, b as Float32Array) / 2;
}

const get = async (query: string) => (await ask(gateway, `/api/cores/${query}`)).json;

describe('a collection with descriptors of another model', () => {
  it('has the scores of that model', async () => {
    const { docs, maxScore } = (await get('shop/image?rank.by.id=red&fl=id,score')).response;
    expect(maxScore).toBe(1);
    expect(docs.map(({ id }: { id: string }) => id).sort()).toEqual(['blue', 'red', 'red-2', 'red-copy']);
    for (const { id, score } of docs) expect(score).toBeCloseTo(scoreOfPair('content', 'red', id), 5);
  });

  it('applies a threshold of that model', async () => {
    const scores = ['red-2', 'red-copy'].map((id) => scoreOfPair('content', 'red', id)).sort();
    for (const [i, score] of scores.entries()) {
      const query = `shop/image?rank.by.id=red&rows=0&rank.threshold=${score - 1e-4}`;
      expect((await get(query)).response.numFound).toBe(3 - i);
    }
  });

  it('weights votes for labels by the scores of that model', async () => {
    const { tags } = await get('shop/tag?tagging.field=labels&tagging.input.id=red');
    const [{ voters }] = tags.filter(({ tag }: { tag: string }) => tag === 'blue');
    expect(voters).toEqual([{ id: 'blue', score: expect.closeTo(scoreOfPair('content', 'red', 'blue'), 5) }]);
  });

  it('has groups with the scores of that model', async () => {
    const { groups, asOfCommit } = await get('shop/groups');
    expect(asOfCommit).toBe(1);
    expect(groups).toHaveLength(1);
    expect(groups[0].pairs).toEqual([
      { ids: ['red', 'red-copy'], score: expect.closeTo(scoreOfPair('duplicate', 'red', 'red-copy'), 5) },
    ]);
  });

  it('is refused without a calibration of that model, until a process with the model opens the store', async () => {
    for (const query of [
      'untold/image?rank.by.id=red',
      'untold/tag?tagging.field=labels&tagging.input.id=red',
      'untold/groups',
      // duplicate and color together decide what is similar.
      'colours-untold/groups',
    ]) {
      const { error } = await get(query);
      expect([error?.code, error?.msg]).toEqual([
        409,
        expect.stringMatching(
          /contains \w+ descriptors of the model earlier-1, but akin uses \S+ and has no calibration.*akin reindex --collection (colours-)?untold .*or open the store once/,
        ),
      ]);
    }
    expect((await get('untold/select?q=labels:blue')).response.numFound).toBe(1);
    await start(EARLIER);
    await start(TODAY);
    const { docs } = (await get('untold/image?rank.by.id=red&fl=score')).response;
    expect(docs[3].score).toBeCloseTo(scoreOfPair('content', 'red', 'blue'), 5);
  });
});
