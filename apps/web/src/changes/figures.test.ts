import { expect, it } from '@jest/globals';
import { figuresOf, readSample } from './figures.ts';

const text = (searches: number, seconds: number) => `# HELP akin_search_seconds x
akin_search_seconds_bucket{le="0.1",path="ranked"} 99
akin_search_seconds_count{path="ranked"} ${searches}
akin_search_seconds_count{path="un{ranked} 7"} 10
akin_search_seconds_sum{path="ranked"} ${seconds}
akin_changes_waiting{collection="a"} 3
akin_changes_waiting{collection="b{} 1"} 2 1700000000000
process_resident_memory_bytes 6.2e+8
akin_broken Nan
`;

it('sums metrics over their labels, and computes rates since the previous sample', () => {
  const first = readSample(text(100, 4), 1_000);
  expect(figuresOf(first, undefined)).toMatchObject({
    searchesPerSecond: undefined,
    searchSeconds: undefined,
    queue: 5,
    memoryBytes: 620_000_000,
    diskBytes: undefined,
    analysesPerSecond: undefined,
  });
  const { searchesPerSecond, searchSeconds } = figuresOf(readSample(text(120, 5), 6_000), first);
  expect([searchesPerSecond, searchSeconds]).toEqual([4, 0.05]);
});

it('gives no rate for a counter that was reset, and no duration without searches', () => {
  const first = readSample(text(100, 4), 1_000);
  expect(figuresOf(readSample(text(50, 1), 2_000), first).searchesPerSecond).toBeUndefined();
  const still = figuresOf(readSample(text(100, 4), 2_000), first);
  expect([still.searchesPerSecond, still.searchSeconds]).toEqual([0, undefined]);
});
