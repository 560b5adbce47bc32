import type { FoundDocument } from '@akin/client';
import { describe, expect, it } from '@jest/globals';
import { factLines, formatOf, idsToDelete, membersAbove, visibleMarks } from './facts.ts';

const one = { id: 'a/one.jpg', width: 100, height: 100, bytes: 5_000, modified: '2024-05-01T10:00:00Z', folder: 'a' };
const two = { id: 'two.TIF', width: 100, height: 100, bytes: 4_000, taken: '2023-01-01T00:00:00Z' };
const three = { id: 'three.png', width: 200, height: 100, bytes: 3_000 };
const members = [one, two, three] as unknown as FoundDocument[];

describe('the separation of copies', () => {
  it.each([
    ['first', ['two.TIF', 'three.png']],
    ['largest', ['a/one.jpg', 'two.TIF']],
    ['oldest', ['a/one.jpg', 'three.png']],
    ['format', ['a/one.jpg', 'three.png']],
    ['all', []],
  ] as const)('keeps the %s', (keep, rest) => {
    expect(idsToDelete(members, keep)).toEqual(rest);
    expect(idsToDelete([], keep)).toEqual([]);
    expect(idsToDelete([{ id: 'x' }, { id: 'y' }], keep)).toEqual(keep === 'all' ? [] : ['y']);
  });

  it('is printed in lines', () => {
    expect(factLines(members[0] as FoundDocument)).toEqual(['100 × 100', '5 kB · JPEG', 'May 1, 2024', 'a']);
    expect(factLines({ id: 'x' })).toEqual([]);
    expect(formatOf({ id: 'x', image: 'https://a.example/b.webp?c.png' })).toBe('WEBP');
    expect(formatOf({ id: 'v1.2' })).toBe('');
  });

  it('is counted from a score on', () => {
    const scored = [0.2, 0.95, 0.8].map((score, i) => ({ id: `${i}`, score }));
    const group = { id: '0', representative: '0', size: 3, members: scored, pairs: [] };
    expect(membersAbove(group, 0.9).map(({ id }) => id)).toEqual(['0', '1']);
    const marked = new Set(['0', '1', '2', 'gone']);
    expect([...visibleMarks(marked, [group], 0)]).toEqual(['0', '1', '2']);
    expect([...visibleMarks(marked, [group], 0.9)]).toEqual(['0', '1']);
    // One picture alone is no group.
    expect([...visibleMarks(marked, [group], 0.99)]).toEqual([]);
  });
});
