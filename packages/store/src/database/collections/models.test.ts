import { type Calibration, parseJson, TypeClaims, validateDocument } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  accept,
  ENGINES,
  openTestStore,
  TEST_MODULES,
  type TestLocation,
  testLocation,
  testOutputs,
  visible,
} from '../../../test/support.ts';
import { claimForAnalysis } from '../../changes/analyze/analysis.ts';
import { commit } from '../../changes/commit/commit.ts';
import { takeLeases } from '../../changes/commit/leases.ts';
import type { Store } from '../../changes/context.ts';
import type { Collection } from '../context.ts';
import { createCollection, findCollection } from './collections.ts';
import { calibrationOf, otherModels, requireOwnModels } from './models.ts';
import { loadSchema } from './schema.ts';

describe.each(ENGINES)('models in a store on %s', (engine) => {
  const itOnPostgres = onPostgres(engine, it);
  let location: TestLocation;
  let remove: () => Promise<void>;
  let store: Store;
  beforeAll(async () => {
    ({ location, remove } = await testLocation(engine));
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await remove();
  });

  async function open(model: string | undefined, dimensions = 4, calibration?: Calibration): Promise<Store> {
    await store?.[Symbol.asyncDispose]();
    const modules = TEST_MODULES.map((module) =>
      module.descriptor ? { ...module, descriptor: { ...module.descriptor, dimensions } } : module,
    );
    const models = model === undefined ? {} : { models: new Map([['shape', model]]) };
    const calibrations = calibration === undefined ? {} : { calibrations: new Map([['shape', calibration]]) };
    store = await openTestStore(location, 0, { modules, ...models, ...calibrations });
    return store;
  }
  const add = async (collection: Collection, id: string, shape: readonly number[]) => {
    await accept(store, collection, [{ id, import: testOutputs({ shape }) }]);
    return commit(store, collection);
  };

  it('belong to a collection from its creation, and stay while others open the store', async () => {
    await open('a-1');
    const collection = await createCollection(store, 'first');
    expect(await add(collection, 'x', [1, 0, 0, 0])).toMatchObject({ failed: 0 });
    await open('b-1');
    expect(await otherModels(store, await findCollection(store, 'first'))).toEqual([
      { module: 'shape', model: 'a-1', own: 'b-1' },
    ]);
    await open('a-1');
    expect(await otherModels(store, await findCollection(store, 'first'))).toEqual([]);
  });

  itOnPostgres('coexist in one store, each in separate collections', async () => {
    await open('b-1', 3);
    const [first, second] = [await findCollection(store, 'first'), await createCollection(store, 'second')];
    await requireOwnModels(store, second);
    expect(await add(second, 'y', [0, 1, 0])).toMatchObject({ failed: 0 });
    expect(await visible(store, first)).toEqual(['x']);
    await open('a-1', 4);
    expect(await add(first, 'z', [0, 0, 1, 0])).toMatchObject({ failed: 0 });
    expect(await otherModels(store, second)).toEqual([{ module: 'shape', model: 'b-1', own: 'a-1' }]);
  });

  itOnPostgres('decide who may analyze: pictures wait for the models of their collection', async () => {
    await open('b-1', 3);
    const first = await findCollection(store, 'first');
    const image = 'http://example.org/1.jpg';
    const { fields } = await loadSchema(store, first);
    const change = (id: string, modules?: string[]) => {
      const validated = validateDocument(parseJson(JSON.stringify({ id, image })), 0, fields, new TypeClaims());
      if ('errors' in validated) throw new Error('no document');
      const { import: _, ...document } = validated.document;
      return { kind: 'add' as const, document, ...(modules ? { modules } : {}) };
    };
    await accept(store, first, [change('p'), change('q', ['tint']), change('r', ['tint', 'shape'])]);
    const ids = async () => (await claimForAnalysis(store, 10)).map(({ id }) => id);
    expect(await ids()).toEqual(['q']);
    await open('a-1', 4);
    expect(await ids()).toEqual(['p', 'q', 'r']);
    await accept(
      store,
      first,
      ['p', 'q', 'r'].map((id) => ({ kind: 'delete', id })),
    );
  });

  itOnPostgres('are not mixed: neither on acceptance nor in a commit', async () => {
    await open('b-1', 3);
    const first = await findCollection(store, 'first');
    const refusal = {
      code: 'conflict',
      message:
        'The collection first contains shape descriptors of the model a-1, but akin uses b-1. They cannot be mixed. Reindex the collection with: akin reindex --collection first',
    };
    await expect(requireOwnModels(store, first)).rejects.toMatchObject(refusal);
    await requireOwnModels(store, first, ['tint']);
    await expect(add(first, 'w', [0, 1, 0])).rejects.toMatchObject({ code: 'conflict' });
    await commit(store, first);
    expect(await visible(store, first)).toEqual(['x', 'z']);
  });

  it('can change after the last document is deleted, even to vectors of another size', async () => {
    await open('b-1', 3);
    const first = await findCollection(store, 'first');
    await accept(store, first, [
      { kind: 'delete', id: 'x' },
      { kind: 'delete', id: 'z' },
    ]);
    await commit(store, first);
    await requireOwnModels(store, first);
    expect(await add(first, 'w', [0, 1, 0])).toMatchObject({ failed: 0 });
    expect(await otherModels(store, first)).toEqual([]);
  });

  it('stay while accepted changes have outputs of them', async () => {
    await open('a-1');
    const waiting = await createCollection(store, 'waiting');
    await accept(store, waiting, [
      { id: 'x', import: testOutputs({ shape: [1, 0, 0, 0] }) },
      { id: 'y', import: testOutputs({ names: ['red'] }) },
    ]);
    await open('b-1', 3);
    expect(await otherModels(store, waiting)).toEqual([{ module: 'shape', model: 'a-1', own: 'b-1' }]);
    expect(await commit(store, waiting)).toMatchObject({ failed: 0 });
    expect(await visible(store, waiting)).toEqual(['x', 'y']);
  });

  it('that are not known are those of the process that opens the store', async () => {
    await open(undefined);
    const third = await createCollection(store, 'third');
    await add(third, 'v', [1, 0, 0, 0]);
    await open('c-1');
    expect(await otherModels(store, await findCollection(store, 'third'))).toEqual([]);
  });

  itOnPostgres('are stored with their calibration', async () => {
    const line = (middle: number): Calibration => [
      [0, 1],
      [1, middle],
      [2, 0],
    ];
    const kept = async () => {
      const collection = await findCollection(store, 'fourth');
      return calibrationOf(store, collection, await loadSchema(store, collection), 'shape');
    };
    await open('a-1', 4, line(0.5));
    const fourth = await createCollection(store, 'fourth');
    await add(fourth, 'u', [1, 0, 0, 0]);
    expect(await kept()).toEqual(line(0.5));
    await open('b-1', 3, line(0.9));
    expect(await kept()).toEqual(line(0.5));
    // A new calibration of the same model.
    await open('a-1', 4, line(0.6));
    await open('b-1', 3, line(0.9));
    expect(await kept()).toEqual(line(0.6));
    // After its last document a collection changes its model, and nothing of the other model stays.
    await accept(store, fourth, [{ kind: 'delete', id: 'u' }]);
    await commit(store, fourth);
    await open('b-1', 3);
    await open('a-1', 4);
    expect(await otherModels(store, fourth)).toEqual([]);
    await add(fourth, 'u', [1, 0, 0, 0]);
    await open('b-1', 3);
    await expect(kept()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('has no calibration of that model'),
    });
  });
});

it('are claimed during a commit with the first descriptors of others, without a deadlock', async () => {
  const { location, remove } = await testLocation('postgres');
  const open = (model: string) => openTestStore(location, 0, { shared: true, models: new Map([['shape', model]]) });
  try {
    await using store = await open('a-1');
    const collection = await createCollection(store, 'contested');
    await accept(store, collection, [{ id: 'x', import: testOutputs({ shape: [1, 0, 0, 0] }) }]);
    const lease = await takeLeases(store, [{ collection, hasModels: true }], 'leader', 600_000);
    let opening: Promise<Store> | undefined;
    const { engine } = store;
    const transaction: typeof engine.transaction = (run, options) =>
      engine.transaction((tx, first) => {
        const query: typeof tx.query = async (sql, params) => {
          if (opening === undefined && sql.includes('set unpublished_documents')) {
            await tx.query('set local idle_in_transaction_session_timeout = 0');
            opening = open('b-1');
          }
          return tx.query(sql, params);
        };
        return run({ ...tx, query }, first);
      }, options);
    await commit({ ...store, engine: { ...engine, transaction } }, collection, lease.get(collection.id));
    expect(await visible(store, collection)).toEqual(['x']);
    if (opening === undefined) throw new Error('the commit brought nothing');
    await using other = await opening;
    expect(await otherModels(other, collection)).toEqual([{ module: 'shape', model: 'a-1', own: 'b-1' }]);
  } finally {
    await remove();
  }
});
