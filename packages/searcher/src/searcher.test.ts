import { channel } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { expect, it } from '@jest/globals';
import { Searcher, SearcherError } from './searcher.ts';

/** Rows as the database sends them: documents from `first` on, seen from a commit on. */
function rowBytes(count: number, commit: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(12 * count));
  for (let i = 0; i < count; i++) {
    bytes.setBigUint64(12 * i, BigInt(i));
    bytes.setUint32(12 * i + 8, commit);
  }
  return new Uint8Array(bytes.buffer);
}

/** A vector of two numbers for each document, around a circle. */
function vectorBytes(count: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(16 * count));
  for (let i = 0; i < count; i++) {
    bytes.setBigUint64(16 * i, BigInt(i));
    bytes.setUint16(16 * i + 8, 2);
    // 1 and 0 as half floats, by turns.
    bytes.setUint16(16 * i + 12, i % 2 === 0 ? 0x3c00 : 0);
    bytes.setUint16(16 * i + 14, i % 2 === 0 ? 0 : 0x3c00);
  }
  return new Uint8Array(bytes.buffer);
}

it.each([1, 3])('finds the same with %i threads, and begins again after one fails', async (threads) => {
  const workers: Worker[] = [];
  const hear = (message: unknown) => workers.push((message as { worker: Worker }).worker);
  channel('worker_threads').subscribe(hear);
  await using searcher = new Searcher({ threads, exactRows: 100 });
  const query = {
    ...{ commit: 1, module: 'view', filters: [], vector: Float32Array.of(0, 1), wanted: 4 },
    ...{ exactRows: 100, leastCompared: 10, mostCandidates: 100 },
  };
  await expect(searcher.change(1, { kind: 'advance', key: 1, commit: 1 })).rejects.toThrow('not in memory');
  await expect(searcher.search(1, query)).rejects.toThrow(SearcherError);
  const fill = async () => {
    await searcher.change(1, { kind: 'begin', key: 1 });
    await searcher.change(1, { kind: 'rows', key: 1, bytes: rowBytes(10, 1) });
    await searcher.change(1, { kind: 'vectors', key: 1, module: 'view', dimensions: 2, bytes: vectorBytes(10) });
    await searcher.change(1, { kind: 'advance', key: 1, commit: 1 });
  };
  await fill();
  const found = await searcher.search(1, query);
  expect(found).toMatchObject({ matches: 10, isExact: true, compared: 10 });
  expect([...(found?.docs ?? [])].sort()).toEqual([1, 3, 5, 7, 9]);
  expect(searcher.bytes).toBeGreaterThan(0);
  const wide = await searcher.search(1, { ...query, maxDistance: 2, mostCandidates: 3 });
  expect(wide).toMatchObject({ matches: 10, areTooMany: true, docs: new Float64Array() });
  // Bytes that are no whole rows are refused, and the threads live on.
  const broken = { kind: 'vectors', key: 1, module: 'view', dimensions: 2, bytes: new Uint8Array(17) } as const;
  await expect(searcher.change(1, broken)).rejects.toThrow('17 bytes');
  expect(await searcher.search(1, query)).toMatchObject({ matches: 10 });
  await workers[0]?.terminate();
  await expect(searcher.search(1, query)).rejects.toThrow(SearcherError);
  expect(searcher.bytes).toBe(0);
  await fill();
  expect(await searcher.search(1, query)).toMatchObject({ matches: 10 });
  await searcher.change(1, { kind: 'drop', key: 1 });
  expect(searcher.bytes).toBe(0);
  // Closed, it stays so.
  await searcher[Symbol.asyncDispose]();
  await expect(fill()).rejects.toThrow(SearcherError);
  expect(workers).toHaveLength(2 * threads);
  channel('worker_threads').unsubscribe(hear);
});
