import type { FoundDocument } from '@akin/client';
import { describe, expect, it } from '@jest/globals';
import { factLines, formatOf } from './facts.ts';

describe('the separation of copies', () => {
  it('is printed in lines', () => {
    const one = {
      id: 'a/one.jpg',
      width: 100,
      height: 100,
      bytes: 5_000,
      taken: '2024-05-01T10:00:00Z',
      modified: '2025-05-01T10:00:00Z',
      folder: 'a',
    };
    expect(factLines(one)).toEqual(['100 × 100', '5 kB · JPEG', 'May 1, 2024', 'a']);
    expect(factLines({ id: 'x', modified: '2025-05-01T10:00:00Z' })).toEqual([]);
    expect(factLines({ id: 'x' })).toEqual([]);
  });

  it.each([
    [{ id: 'x', image: 'https://a.example/b.webp?c.png' }, 'WEBP'],
    [{ id: 'v1.2' }, ''],
    [{ id: '7', path: 'card/DSC_1.NEF' }, 'RAW'],
    [{ id: 'a.cr3' }, 'RAW'],
    [{ id: 'a.mp4' }, ''],
  ])('knows the format of %p', (document, format) => {
    expect(formatOf(document as FoundDocument)).toBe(format);
  });
});
