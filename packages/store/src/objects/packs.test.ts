import { describe, expect, it } from '@jest/globals';
import type { ObjectStore } from './object-store.ts';
import { objectStoreUnavailable } from './object-store.ts';
import { PACK_BYTES, Packs } from './packs.ts';

/** Objects in memory, whose writes end on command. */
function heldObjects() {
  const kept = new Map<string, Buffer>();
  const writes: ((error?: unknown) => void)[] = [];
  const reads: string[] = [];
  const objects: ObjectStore = {
    location: 'memory',
    put: (key, bytes) =>
      new Promise((resolve, reject) => {
        writes.push((error) => {
          if (error) return reject(error);
          kept.set(key, Buffer.from(bytes));
          resolve();
        });
      }),
    async get(key, range) {
      const { from, to } = range ?? { from: 0, to: Number.POSITIVE_INFINITY };
      reads.push(`${from}-${to}`);
      return kept.get(key)?.subarray(from, to);
    },
    async delete() {},
    async *list() {},
    async [Symbol.asyncDispose]() {},
  };
  return { objects, writes, reads, kept };
}

const part = (size: number, fill: string) => Buffer.alloc(size, fill);

describe('packs', () => {
  it('contain the waiting parts while four are being written, up to their size', async () => {
    const { objects, writes, kept } = heldObjects();
    const packs = new Packs(objects);
    const first = Array.from({ length: 4 }, (_, i) => packs.write(1, [part(10, String(i))]));
    const waiting = ['a', 'b', 'c'].map((fill) => packs.write(1, [part(PACK_BYTES / 2, fill), part(1, fill)]));
    const small = packs.write(1, [part(3, 'd')]);
    expect(writes).toHaveLength(4);
    for (const end of writes.splice(0)) end();
    await Promise.all(first);
    // Two of the halves do not fit together, because each has one byte more.
    expect(writes).toHaveLength(3);
    for (const end of writes.splice(0)) end();
    const [a, , c] = await Promise.all(waiting);
    expect((await small).pack).toBe(c?.pack);
    expect(a?.pack).not.toBe(c?.pack);
    expect(kept.size).toBe(7);
    const read = await packs.read([...(c?.ranges ?? []), ...(await small).ranges]);
    expect(read.map(String)).toEqual(['c'.repeat(PACK_BYTES / 2), 'c', 'ddd']);
  });

  it('belong to one collection each, so that one does not delete what another needs', async () => {
    const { objects, writes } = heldObjects();
    const packs = new Packs(objects);
    const first = Array.from({ length: 4 }, (_, i) => packs.write(i, [part(1, 'f')]));
    const waiting = [7, 8, 7, 8].map((collection) => packs.write(collection, [part(1, 'w')]));
    for (const end of writes.splice(0)) end();
    await Promise.all(first);
    for (const end of writes.splice(0)) end();
    const [a, b, alsoA, alsoB] = (await Promise.all(waiting)).map(({ pack }) => pack);
    expect([a, b]).toEqual([alsoA, alsoB]);
    expect(a).not.toBe(b);
  });

  it('accept a part that is larger than their size', async () => {
    const { objects, writes } = heldObjects();
    const packs = new Packs(objects);
    const large = packs.write(1, [part(PACK_BYTES * 2, 'l')]);
    writes[0]?.();
    expect(await large).toMatchObject({ bytes: PACK_BYTES * 2 });
  });

  it('that cannot be written fail alone, and later ones continue', async () => {
    const { objects, writes } = heldObjects();
    const packs = new Packs(objects);
    const reported: string[] = [];
    packs.listen((call, milliseconds, result) => reported.push(`${call} ${milliseconds >= 0} ${result}`));
    const [one, other] = [packs.write(1, [part(1, 'a')]), packs.write(1, [part(1, 'b')])];
    writes[0]?.(objectStoreUnavailable(new Error('full')));
    writes[1]?.();
    await expect(one).rejects.toMatchObject({ code: 'unavailable' });
    expect(String((await packs.read((await other).ranges))[0])).toBe('b');
    expect(reported).toEqual(['write true failed', 'write true done', 'read true done']);
    const next = packs.write(1, [part(1, 'c')]);
    writes[2]?.();
    expect((await next).bytes).toBe(1);
  });

  it('are read by few requests: neighbours together, distant ones separately, empty parts without any', async () => {
    const { objects, writes, reads } = heldObjects();
    const packs = new Packs(objects);
    const sizes = [10, 0, 20, 200_000, 30];
    const write = packs.write(
      1,
      sizes.map((size, i) => part(size, String(i))),
    );
    writes[0]?.();
    const { ranges } = await write;
    const wanted = [4, 2, 1, 0].map((i) => ranges[i] as (typeof ranges)[number]);
    const read = await packs.read(wanted);
    expect(read.map(String)).toEqual(['4'.repeat(30), '2'.repeat(20), '', '0'.repeat(10)]);
    expect(reads).toEqual(['0-30', '200030-200060']);
  });

  it('report missing parts', async () => {
    const { objects } = heldObjects();
    expect(await new Packs(objects).read([{ pack: 'aa', start: 0, size: 1 }])).toEqual([undefined]);
  });
});
