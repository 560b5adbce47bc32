import { describe, expect, it } from '@jest/globals';
import {
  accept,
  changesOf,
  ENGINES,
  parseTestOutputs,
  TEST_MODULES,
  testLocation,
  testOutputs,
} from '../../test/support.ts';
import { createCollection } from '../collections/collections.ts';
import { commit } from '../commit/commit.ts';
import { openStore } from '../store.ts';

describe.each(ENGINES)('the mark of checked outputs on %s', (kind) => {
  it('is returned with them when they are applied, and with no others', async () => {
    const { location, remove } = await testLocation(kind);
    const read: [string, string | undefined][] = [];
    const store = await openStore({
      ...location,
      modules: TEST_MODULES,
      parseOutputs: (json, mark) => {
        read.push([json, mark]);
        return parseTestOutputs(json);
      },
    });
    try {
      const collection = await createCollection(store, 'shop');
      const [marked, plain] = [testOutputs({ shape: [1, 0, 0, 0] }), testOutputs({ shape: [0, 1, 0, 0] })];
      const [first, second] = await changesOf(store, collection, [
        { id: 'a', import: marked },
        { id: 'b', import: plain },
      ]);
      await accept(store, collection, [{ ...first, mark: 'checked by me' }, { ...second }]);
      await commit(store, collection);
      expect(read).toEqual([
        [marked, 'checked by me'],
        [plain, undefined],
      ]);
    } finally {
      await store[Symbol.asyncDispose]();
      await remove();
    }
  });
});
