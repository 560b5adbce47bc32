import { channel } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { createRandom } from '@akin/domain/random';
import { expect, it } from '@jest/globals';
import { distance } from '../test/distance.ts';
import { rowBytes } from '../test/row-bytes.ts';
import { lacking } from '../test/search.ts';
import { threadOf } from './row-table.ts';
import { Searcher, SearcherError } from './searcher.ts';
import { summaryOf } from './wire.ts';

it.each([1, 3])('finds the same with %i threads, and begins again after one fails', async (threads) => {
  const workers: Worker[] = [];
  const onThread = (message: unknown) => workers.push((message as { worker: Worker }).worker);
  channel('worker_threads').subscribe(onThread);
  await using searcher = new Searcher({ threads, exactRows: 100 });
  const query = {
    commit: 1,
    module: 'view',
    filters: [],
    vector: Float32Array.of(0, 1),
    k: 4,
    exactRows: 100,
    minCompared: 10,
    maxCandidates: 100,
  };
  await expect(searcher.change(1, { kind: 'advance', commit: 1 })).rejects.toThrow('not in memory');
  await expect(searcher.search(1, query)).rejects.toThrow(SearcherError);
  const fill = async () => {
    await searcher.change(1, { kind: 'begin' });
    await searcher.change(1, { kind: 'rows', modules: ['view'], bytes: rowBytes(10) });
    await searcher.change(1, { kind: 'advance', commit: 1 });
  };
  await fill();
  const found = await searcher.search(1, query);
  expect(found).toMatchObject({ matches: 10, isExact: true, compared: 10 });
  expect([...(found?.docs ?? [])].sort()).toEqual([1, 3, 5, 7, 9]);
  expect(searcher.bytes).toBeGreaterThan(0);
  const wide = await searcher.search(1, { ...query, maxDistance: 2, maxCandidates: 3 });
  expect(wide).toMatchObject({ matches: 10, isOverLimit: true, docs: new Float64Array() });
  // Bytes that are not whole rows are rejected, and the threads keep running.
  const broken = { kind: 'rows', modules: ['view'], bytes: rowBytes(10).subarray(0, 70) } as const;
  await expect(searcher.change(1, broken)).rejects.toThrow(SearcherError);
  expect(await searcher.search(1, query)).toMatchObject({ matches: 10 });
  await workers[0]?.terminate();
  await expect(searcher.search(1, query)).rejects.toThrow(SearcherError);
  expect(searcher.bytes).toBe(0);
  await fill();
  expect(await searcher.search(1, query)).toMatchObject({ matches: 10 });
  await searcher.change(1, { kind: 'drop' });
  expect(searcher.bytes).toBe(0);
  // A closed searcher stays closed.
  await searcher[Symbol.asyncDispose]();
  await expect(fill()).rejects.toThrow(SearcherError);
  expect(workers).toHaveLength(2 * threads);
  channel('worker_threads').unsubscribe(onThread);
});

it('ends the threads that it started if another one cannot be started', async () => {
  const workers: Worker[] = [];
  const onThread = (message: unknown) => workers.push((message as { worker: Worker }).worker);
  channel('worker_threads').subscribe(onThread);
  let copies = 0;
  // Each thread gets a copy of this. There is none for the third one.
  const exactRows = {
    get value() {
      if (++copies === 3) throw new Error('there are too many threads');
      return 100;
    },
  } as unknown as number;
  await using searcher = new Searcher({ threads: 4, exactRows });
  await expect(searcher.change(1, { kind: 'begin' })).rejects.toThrow(SearcherError);
  expect(workers.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  await searcher.change(1, { kind: 'begin' });
  expect(workers).toHaveLength(6);
  channel('worker_threads').unsubscribe(onThread);
});

it.each([1, 2])(
  'gives estimates where bounds leave too many, unless it must be exact, with %i threads',
  async (threads) => {
    const random = createRandom(5);
    const draw = () => Float32Array.from({ length: 256 }, () => random() - 0.5);
    const vectors = Array.from({ length: 6_000 }, draw);
    await using searcher = new Searcher({ threads, exactRows: 1_000 });
    await searcher.change(1, { kind: 'begin' });
    const bytes = rowBytes(vectors.length, (doc) => vectors[doc] as Float32Array);
    await searcher.change(1, { kind: 'rows', modules: ['view'], bytes });
    await searcher.change(1, { kind: 'advance', commit: 1 });
    const query = {
      commit: 1,
      module: 'view',
      filters: [],
      vector: draw(),
      k: 10,
      exactRows: vectors.length,
      minCompared: 10,
      maxCandidates: 20_000,
    };
    const distances = vectors.map((vector) => distance(vector, query.vector));
    const nearest = [...vectors.keys()]
      .sort((a, b) => (distances[a] as number) - (distances[b] as number))
      .slice(0, 10);
    const few = await searcher.search(1, query);
    expect(few).toMatchObject({ isExact: false, isOverLimit: false, matches: 6_000, compared: 6_000 });
    expect(few?.docs.length).toBeLessThan(100);
    expect(lacking(few?.docs, nearest)).toEqual([]);
    const all = await searcher.search(1, { ...query, exactRows: Number.POSITIVE_INFINITY });
    expect(all).toMatchObject({ isExact: true, isOverLimit: false });
    expect(lacking(all?.docs, nearest)).toEqual([]);
  },
);

it('summarizes rows', () => {
  expect(summaryOf(rowBytes(3))).toEqual({ count: 3, last: 2, expired: 0, removableUpTo: 0 });
});

it.each([1, 2, 3, 4, 12])('spreads documents evenly over threads, every %i-th too', (step) => {
  for (const threads of [2, 3, 4]) {
    const counts = Array.from({ length: threads }, () => 0);
    for (let doc = 7; doc < 20_000 * step; doc += step) {
      const thread = threadOf(doc, threads);
      counts[thread] = (counts[thread] as number) + 1;
    }
    const share = 20_000 / threads;
    for (const count of counts) expect(Math.abs(count - share)).toBeLessThan(5 * Math.sqrt(share));
  }
});

it('makes clusters in the background after a search, and drops them with the collection', async () => {
  const random = createRandom(8);
  const count = 40_000;
  const vectors = Array.from({ length: count }, () => Float32Array.from({ length: 8 }, () => random() - 0.5));
  await using searcher = new Searcher({ threads: 2, exactRows: 100 });
  await searcher.change(1, { kind: 'begin' });
  const bytes = rowBytes(count, (doc) => vectors[doc] as Float32Array);
  await searcher.change(1, { kind: 'rows', modules: ['view'], bytes });
  await searcher.change(1, { kind: 'advance', commit: 1 });
  const before = searcher.bytes;
  const search = (vector: Float32Array) =>
    searcher.search(1, {
      commit: 1,
      module: 'view',
      filters: [],
      vector,
      k: 4,
      exactRows: 100,
      minCompared: 400,
      maxCandidates: 1_000,
    });
  // Replies tell the memory, which clusters of both threads add to.
  for (let doc = 0; searcher.bytes < before + 2 * 65_536; doc = (doc + 1) % count) {
    expect([...((await search(vectors[doc] as Float32Array))?.docs ?? [])]).toContain(doc);
  }
  for (const doc of [0, 77, count - 1]) {
    const found = await search(vectors[doc] as Float32Array);
    expect(found?.matches).toBe(count);
    expect([...(found?.docs ?? [])]).toContain(doc);
  }
  await search(vectors[1] as Float32Array);
  await searcher.change(1, { kind: 'drop' });
  expect(searcher.bytes).toBe(0);
});
