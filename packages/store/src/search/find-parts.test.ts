import { type ModuleManifest, parseQuery } from '@akin/domain';
import { randomNumbers } from '@akin/testing';
import { describe, expect, it, jest } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES, TEST_MODULES, testDescriptorTexts } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import { listPartPairs } from '../maintenance/groups/list-part-pairs.ts';
import { removePartPairs, updatePartPairs } from '../maintenance/groups/update-part-pairs.ts';
import { openStore } from '../store.ts';
import { findParts } from './find-parts.ts';
import { getDocuments } from './read.ts';
import { search } from './search.ts';

const DOTS: ModuleManifest = {
  name: 'dots',
  isOptional: true,
  outputs: [{ name: 'dots_points', type: 'string', returnedByDefault: false, isBytes: true }],
  points: 'dots_points',
};

/** 60 points of a picture of 400 x 300 pixels, as the module parts writes them. */
function points(seed: number): Uint8Array {
  const random = randomNumbers(seed);
  const bytes = Buffer.alloc(6 + 60 * 20);
  bytes.writeUInt8(2, 0);
  bytes.writeUInt16LE(400, 2);
  bytes.writeUInt16LE(300, 4);
  for (let at = 6; at < bytes.length; at++) bytes[at] = Math.floor(random() * 256);
  for (let at = 6 + 16; at < bytes.length; at += 20) {
    const [x, y, turn] = [random() * 2_048, random() * 1_536, random() * 64].map(Math.floor) as [
      number,
      number,
      number,
    ];
    bytes.writeUInt32LE(x | (y << 11) | (turn << 22), at);
  }
  return Uint8Array.from(bytes);
}

describe.each(ENGINES)('parts of pictures on %s', (kind) => {
  let store: Store;
  let collection: Collection;
  sharedStore(
    kind,
    async (opened) => {
      store = opened;
      collection = await createCollection(store, 'dotted', { modules: ['dots'] });
      const documents = [1, 2, 3].map((seed) => ({
        id: `d${seed}`,
        import: JSON.stringify({ dots_points: Buffer.from(points(seed)).toString('base64') }),
      }));
      await accept(store, collection, documents);
      await commit(store, collection);
    },
    (location) =>
      openStore({
        ...location,
        modules: [...TEST_MODULES, DOTS],
        parseOutputs: (json) => ({ fields: new Map(Object.entries(JSON.parse(json))), descriptors: new Map() }),
        descriptorTexts: testDescriptorTexts,
      }),
  );
  const input = { module: 'dots', points: points(2), filters: [] };

  it('makes no bulk work pause in the background', async () => {
    await findParts(store, collection, { ...input, isBackground: true });
    expect(store.throttle.isPausing).toBe(false);
    store.inMemory.unloadAll();
  });

  it('takes its slot again after points were read, and knows of which commit the result is', async () => {
    let slots = 0;
    const found = await findParts(store, collection, input, (work) => {
      slots++;
      return work();
    });
    expect(slots).toBe(2);
    expect(found).toMatchObject({ commit: 1, parts: [{ id: 'd2', box: { query: [0, 0, 1, 1], scale: 1 } }] });
  });

  it('does not wait for points when the client has gone', async () => {
    store.inMemory.unloadAll();
    const client = new AbortController();
    const reads: unknown[] = [];
    const found = findParts(store, collection, { ...input, signal: client.signal }, async (work) => {
      const result = await work();
      reads.push(store.inMemory.loadedCollection(collection.id));
      client.abort(new Error('gone'));
      return result;
    });
    await expect(found).rejects.toThrow('gone');
    expect(reads).toEqual([undefined]);
  });

  it('are compared again soon when the points are not read in time', async () => {
    store.inMemory.unloadAll();
    const late = jest.spyOn(store.inMemory, 'findForBackground').mockResolvedValueOnce(undefined);
    const rule = { module: 'dots', minStrength: 1 };
    const turn = { milliseconds: 60_000, signal: new AbortController().signal };
    expect(await updatePartPairs(store, collection, rule, turn)).toBe(false);
    expect(late).toHaveBeenCalled();
    late.mockRestore();
    expect(await updatePartPairs(store, collection, rule, turn)).toBe(true);
    expect(await listPartPairs(store, collection, { rows: 10 })).toMatchObject({ commit: 1, asOfCommit: 1 });
  });

  it('are kept by a change of another field as bytes, which are read but not searched', async () => {
    await accept(store, collection, [{ id: 'd3', n: { set: 1 } }]);
    await commit(store, collection);
    const text = Buffer.from(points(3)).toString('base64');
    const { documents } = await getDocuments(store, collection, ['d3'], ['*', 'dots_points']);
    expect(documents.get('d3')).toEqual(
      new Map<string, unknown>([
        ['id', 'd3'],
        ['dots_points', text],
        ['n', 1n],
      ]),
    );
    const [row] = await store.engine.query(
      `select octet_length(dots_points) as bytes, tsvector_to_array(words) as words from ${collection.sqlSchema}.documents
        where id = 'd3' order by doc desc limit 1`,
    );
    expect(row).toEqual({ bytes: points(3).length, words: [':id:d3', 'd3'] });
    const asked = (q: string) => search(store, collection, { query: parseQuery(q), rows: 10 });
    expect((await asked('dots_points:*')).hits).toHaveLength(3);
    for (const q of [`dots_points:"${text}"`, 'dots_points:A*', 'dots_points:[a TO b]', 'dots_points:AQ~']) {
      await expect(asked(q)).rejects.toMatchObject({ code: 'bad-request' });
    }
  });

  it('stay a pair when the row of a changed document is removed while others are compared', async () => {
    const rule = { module: 'dots', minStrength: 1 };
    const turn = { milliseconds: 60_000, signal: new AbortController().signal };
    const { sqlSchema: S } = collection;
    const imported = (seed: number) => JSON.stringify({ dots_points: Buffer.from(points(seed)).toString('base64') });
    await accept(store, collection, [{ id: 'copy', import: imported(2) }]);
    await commit(store, collection);
    expect(await updatePartPairs(store, collection, rule, turn)).toBe(true);
    const [before] = await store.engine.query(`select doc from ${S}.documents where id = 'd2'`);
    await accept(store, collection, [
      { id: 'd2', n: { set: 1 } },
      { id: 'd9', import: imported(9) },
    ]);
    await commit(store, collection);
    const pause = jest.spyOn(store.throttle, 'pauseAfter').mockImplementationOnce(() =>
      store.engine.transaction(async (tx) => {
        await removePartPairs(tx, collection, [before?.doc]);
        await tx.query(`delete from ${S}.documents where doc = $1`, [before?.doc]);
      }),
    );
    expect(await updatePartPairs(store, collection, rule, turn)).toBe(true);
    pause.mockRestore();
    const { pairs } = await listPartPairs(store, collection, { rows: 10, fields: ['id'] });
    expect(pairs).toMatchObject([{ isCopy: true, box: { query: [0, 0, 1, 1] } }]);
    expect([pairs[0]?.part.id, pairs[0]?.whole.id].sort()).toEqual(['copy', 'd2']);
  });
});
