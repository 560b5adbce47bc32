import { expect, it } from '@jest/globals';
import { SearchedCollection } from './collection.ts';
import { readDocs, readValues } from './wire.ts';

/** Values of documents in the format of COPY. */
function valueBytes(values: Readonly<Record<string, readonly number[]>>): Uint8Array {
  const rows = Object.entries(values).map(([value, docs]) => {
    const text = Buffer.from(value);
    const row = Buffer.alloc(10 + text.length + 8 * docs.length);
    row.writeInt16BE(2, 0);
    row.writeInt32BE(text.length, 2);
    text.copy(row, 6);
    row.writeInt32BE(8 * docs.length, 6 + text.length);
    for (const [i, doc] of docs.entries()) row.writeBigInt64BE(BigInt(doc), 10 + text.length + 8 * i);
    return row;
  });
  return Buffer.concat([Buffer.alloc(19), ...rows, Buffer.from([0xff, 0xff])]);
}

it('reads values with their documents', () => {
  const values = { red: [3, 2 ** 40], '': [], 'blå 🟦': [7] };
  const bytes = valueBytes(values);
  const read: Record<string, number[]> = {};
  for (const [value, list] of readValues(bytes)) {
    const docs: number[] = [];
    readDocs(bytes, list, (doc) => docs.push(doc));
    read[value] = docs;
  }
  expect(read).toEqual(values);
  expect([...readValues(valueBytes({}))]).toEqual([]);
  expect(() => [...readValues(bytes.subarray(0, 30))]).toThrow(RangeError);
});

it('finds the rows that filters by value match, while rows are added and removed', () => {
  const COUNT = 3_000;
  const collection = new SearchedCollection(100);
  const add = (from: number, to: number, commit: number) => {
    for (let doc = from; doc < to; doc++) {
      collection.addRow(doc, commit);
      collection.setVector('view', doc, Float32Array.of(1, doc));
    }
    collection.advance(commit);
  };
  const setValues = (from: number, to: number) => {
    // Every fifth document has no value; documents that are not loaded are ignored.
    for (let doc = from; doc < to + 5; doc++) if (doc % 5 > 0) collection.setValue(1, doc, doc % 5);
  };
  const found = (commit: number, filters: readonly number[], excluded: readonly number[] = []) => {
    const counts = collection.count({ commit, module: 'view', restrictions: [{ filters, excluded }] });
    return counts?.[0];
  };
  add(0, COUNT, 1);
  setValues(0, COUNT);
  collection.extendByValues(1, 1, Uint8Array.of(0, 1, 0, 1));
  expect(found(1, [1])).toBe((2 * COUNT) / 5);
  expect(found(1, [], [1])).toBe((3 * COUNT) / 5);
  // A column without values matches nothing, and excluding it excludes nothing.
  collection.extendByValues(2, 7, Uint8Array.of(0, 1));
  expect([found(1, [2]), found(1, [], [2])]).toEqual([0, COUNT]);

  add(COUNT, COUNT + 100, 2);
  expect(found(2, [1])).toBe((2 * COUNT) / 5);
  setValues(COUNT, COUNT + 100);
  collection.extendByValues(1, 1, Uint8Array.of(0, 1, 0, 1));
  expect(found(2, [1])).toBe((2 * (COUNT + 100)) / 5);
  expect(found(1, [1])).toBe((2 * COUNT) / 5);

  // Enough removed rows for the others to move to new positions.
  const before = collection.bytes;
  for (let doc = 0; doc < COUNT; doc++) if (doc % 5 === 1 || doc % 5 === 0) collection.expireRow(doc, 3);
  collection.advance(3);
  expect(collection.bytes).toBeLessThan(before);
  const left = [found(3, [1]), found(3, [], [1])];
  expect(left).toEqual([COUNT / 5 + 40, (2 * COUNT) / 5 + 60]);
  collection.extendByValues(3, 1, Uint8Array.of(0, 1, 0, 1));
  expect([found(3, [3]), found(3, [], [3])]).toEqual(left);
  const taken = collection.bytes;
  collection.dropValues(1);
  expect(collection.bytes).toBeLessThan(taken);
});
