import { expect, it } from '@jest/globals';
import { trashedLine, untrashedLine } from './trashed-line.ts';

const NOW = new Date('2026-01-02T03:04:05Z');

it.each([
  '{"id":"a"}',
  '{"id":"a","views":9007199254740993,"title":"\\"trashed_at\\":\\"x\\","}',
  '{"id":"a","title":"{\\"trashed_at\\":\\"2026\\"}","labels":["x"]}',
])('gives %s the time of its deletion, and takes it back', (line) => {
  const trashed = trashedLine(line, NOW);
  expect(JSON.parse(trashed)).toEqual({ ...JSON.parse(line), trashed_at: '2026-01-02T03:04:05.000Z' });
  expect(untrashedLine(trashed)).toBe(line);
});

it('finds the time wherever akin writes it', () => {
  expect(untrashedLine('{"id":"a","trashed_at":"2026-01-02T03:04:05Z"}')).toBe('{"id":"a"}');
  expect(untrashedLine('{"id":"a","trashed_at":"2026-01-02T03:04:05Z","x":1}')).toBe('{"id":"a","x":1}');
});
