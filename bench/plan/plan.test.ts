import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { interpolate, plan, predict } from './plan.mjs';

const MAIN = fileURLToPath(new URL('main.mjs', import.meta.url));
const run = async (...args: string[]) => (await promisify(execFile)(process.execPath, [MAIN, ...args])).stdout;

/** Costs that are easy to compute with. */
const COSTS = {
  codes: {
    threads: 2,
    sizes: [
      { documents: 10_000, bytes: 100, ms: 1, cpuMs: 1 },
      { documents: 1_000_000, bytes: 100, ms: 5, cpuMs: 10 },
      { documents: 2_000_000, bytes: 100, ms: 10, cpuMs: 20 },
    ],
  },
  change: {
    changes: [
      { shards: 1, akinCpuMs: 1, postgresCpuMs: 0.5 },
      { shards: 4, akinCpuMs: 1, postgresCpuMs: 0.5 },
    ],
  },
  search: { documents: 10_000, ms: 3, akinCpuMs: 2, postgresCpuMs: 1 },
  sizes: { tables: 8_000, indexes: 1_000, descriptor: 600, log: 10_000 },
};
const NEED = {
  documents: 100_000_000,
  changes: 70,
  changesPerDay: 1_000_000,
  searches: 10,
  modules: 1,
  gatewayCores: 4,
  postgresCores: 7,
};

describe('the calculator of servers', () => {
  it('computes from costs: a scan grows with the documents, memory with the modules too', () => {
    const one = plan(COSTS, NEED);
    expect(one).toMatchObject({ shards: 4, indexers: 2, diskBytes: 1.8e12, logBytesPerDay: 1e10 });
    expect(one.scanCpuMs).toBeCloseTo(1_000);
    // Two measured threads took 500 ms; four take half. The rest of a search took 2 ms.
    expect(one.searchMs).toBeCloseTo(252);
    // 250 ms of four threads, busy for 70 % of the time.
    expect(one.searchesOfGateway).toBeCloseTo(2.8, 1);
    expect(one.gateways).toBe(4);
    expect(one.gatewayBytes).toBeCloseTo(10.5e9);
    expect(plan(COSTS, { ...NEED, modules: 3 }).gatewayBytes).toBeCloseTo(30.5e9);
    expect(one.postgresCoresForChanges).toBeCloseTo(0.05);
    // Two indexers apply 1,400 documents/s.
    expect(one.loadHours).toBeCloseTo(100_000_000 / 1_400 / 3_600);
  });

  it('has an indexer and a shard for each 70 % of a core that changes need', () => {
    expect(plan(COSTS, { ...NEED, changes: 7_000 })).toMatchObject({ indexers: 10, shards: 10 });
    expect(plan(COSTS, { ...NEED, documents: 1_000_000, changes: 1 })).toMatchObject({ indexers: 2, shards: 1 });
    expect(plan(COSTS, { ...NEED, changes: 1e6 }).shards).toBe(64);
  });

  it.each([
    [100_000, 2],
    [500_000, 4],
    [1_500_000, 11.75],
    [4_000_000, 38],
  ])('reads figures off the line through the measured sizes that are nearest (%d)', (documents, expected) => {
    const sizes = [
      { documents: 10_000, cpuMs: 100 },
      { documents: 200_000, cpuMs: 2.5 },
      { documents: 1_000_000, cpuMs: 6.5 },
      { documents: 2_000_000, cpuMs: 17 },
    ];
    expect(interpolate(sizes, documents, 'cpuMs')).toBeCloseTo(expected);
  });

  it('predicts each size from the smaller ones', () => {
    const sizes = [1, 2, 3].map((n) => ({ documents: n * 100_000, bytes: 100 + n, ms: n, cpuMs: 2 * n }));
    expect(predict({ sizes })).toEqual([{ measured: sizes[2], predicted: { bytes: 102, cpuMs: 6, ms: 3 } }]);
  });

  it('prints what docs/scaling.md shows', async () => {
    const page = await readFile(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
    const [table = '', ...others] = (await run()).split(/\n\n/).filter((part) => part.startsWith('|'));
    expect(others).toHaveLength(1);
    expect(page).toContain(table.trim());
  });

  it.each([
    ['--documents', '0'],
    ['--documents', 'many'],
    ['--searches', 'few'],
  ])('refuses %s %s', async (...args) => {
    await expect(run(...args)).rejects.toThrow(`${args[0]} must be`);
  });
});
