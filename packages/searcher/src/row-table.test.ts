import { describe, expect, it } from '@jest/globals';
import { RowTable, threadOf } from './row-table.ts';

/** So many rows that the bits of a slot's number overlap with those that choose a thread. */
const ROWS = 1_100_000;

describe('the rows of a thread', () => {
  it('are a share of all documents, and found quickly however many there are', () => {
    const threads = 2;
    const table = new RowTable();
    let last = -1;
    while (table.count < ROWS) if (threadOf(++last, threads) === 1) table.add(last, 1);
    expect(last / ROWS / threads).toBeGreaterThan(0.99);
    expect(last / ROWS / threads).toBeLessThan(1.01);
    expect([table.rowOf(last), table.rowOf(last + 1)]).toEqual([ROWS - 1, -1]);
  });
});
