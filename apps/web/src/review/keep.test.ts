import type { FoundDocument } from '@akin/client';
import { describe, expect, it } from '@jest/globals';
import { foldersOf, idsToDelete, type KeepRule } from './keep.ts';

const one = { id: 'a/one.jpg', width: 100, height: 100, bytes: 5_000, modified: '2024-05-01T10:00:00Z', source: '/p' };
const two = { id: 'two.TIF', width: 100, height: 100, bytes: 4_000, taken: '2023-01-01T00:00:00Z', source: '/p/' };
const three = { id: 'three.png', width: 200, height: 100, bytes: 3_000 };
const members = [one, two, three] as unknown as FoundDocument[];

/** What a camera wrote, and when the file was written. */
const camera = { taken: '2020-06-01T10:00:00Z', camera: 'X' };
const then = { modified: '2020-06-01T10:00:00Z' };
const later = { modified: '2023-01-01T10:00:00Z' };
const photo = (id: string, width: number, height: number, bytes: number, more: object = {}) =>
  ({ id, width, height, bytes, ...more }) as FoundDocument;

describe('what is kept', () => {
  it.each([
    ['first', ['two.TIF', 'three.png']],
    ['largest', ['a/one.jpg', 'two.TIF']],
    ['oldest', ['a/one.jpg', 'three.png']],
    ['format', ['a/one.jpg', 'three.png']],
    ['all', []],
    ['folder:/p/a', ['two.TIF', 'three.png']],
    ['folder:/p', ['a/one.jpg', 'three.png']],
    ['folder:/q', []],
  ] as [KeepRule, string[]][])('is by the rule %s', (keep, rest) => {
    expect(idsToDelete(members, keep)).toEqual(rest);
    expect(idsToDelete([], keep)).toEqual([]);
    expect(idsToDelete([{ id: 'x' }, { id: 'y' }], keep)).toEqual(/^(all|folder.*)$/.test(keep) ? [] : ['y']);
  });

  it.each(['best', 'largest', 'oldest', 'first'] as const)('leaves alone what is missing (%s)', (rule) => {
    const away = { ...photo('big.jpg', 2000, 1600, 6e5, then), missing: true };
    const [one, two] = [photo('one.jpg', 1000, 800, 2e5, then), photo('two.jpg', 900, 720, 1e5, later)];
    expect(idsToDelete([away, one, two], rule)).toEqual(['two.jpg']);
    expect(idsToDelete([away, one], rule)).toEqual([]);
  });

  it.each<[string, FoundDocument, FoundDocument[]]>([
    [
      'a small copy by a messenger',
      photo('o.jpg', 4000, 3000, 3e6, { ...camera, ...then }),
      [photo('wa.jpg', 1600, 1200, 3e5, later)],
    ],
    [
      'an enlarged copy without what the camera wrote',
      photo('o.jpg', 1000, 800, 2e5, { ...camera, ...then }),
      [photo('big.jpg', 2000, 1600, 6e5, later)],
    ],
    [
      'an older crop of a photo that was tagged later',
      photo('o.jpg', 2000, 1600, 6e5, { ...camera, ...later }),
      [photo('crop.jpg', 1500, 1500, 3e5, { ...camera, ...then })],
    ],
    ['a bordered copy', photo('o.jpg', 1000, 800, 2e5, then), [photo('frame.jpg', 1240, 1040, 3.4e5, later)]],
    ['a crop', photo('o.jpg', 1000, 800, 2e5, then), [photo('crop.jpg', 500, 500, 8e4, later)]],
    [
      'a crop in a folder that was copied and lost its times',
      photo('o.jpg', 1000, 800, 2e5, { modified: '2023-01-01T12:00:00Z' }),
      [photo('crop.jpg', 500, 500, 8e4, later)],
    ],
    [
      'a copy that was saved again, later',
      photo('o.jpg', 1000, 800, 2e5, then),
      [photo('q.jpg', 1000, 800, 4e5, later)],
    ],
    ['copies of which nothing is known', photo('o', 0, 0, 0), [photo('p', 0, 0, 0)]],
    [
      'a JPEG larger than the preview of its RAW',
      photo('o.nef', 640, 424, 2e7, { ...camera, ...then }),
      [photo('export.jpg', 6000, 4000, 8e6, { ...camera, ...then })],
    ],
    [
      'several edits',
      photo('o.jpg', 1000, 800, 2e5, { ...camera, ...then }),
      [
        photo('a.jpg', 3000, 2400, 6e5, later),
        photo('b.jpg', 500, 400, 6e4, later),
        photo('c.jpg', 1240, 1040, 3e5, later),
      ],
    ],
  ])('is the original beside %s', (_, original, others) => {
    const rest = others.map(({ id }) => id);
    expect(idsToDelete([original, ...others], 'best')).toEqual(rest);
    if (rest[0] !== 'p') expect(idsToDelete([...others, original], 'best')).toEqual(rest);
  });

  it('is a RAW by every rule, unless another RAW is kept', () => {
    const raw = { id: 'r.cr2', width: 160, height: 120, bytes: 100, ...later } as FoundDocument;
    const jpeg = photo('export.jpg', 6000, 4000, 8e6, then);
    for (const rule of ['best', 'largest', 'format'] as const)
      expect(idsToDelete([jpeg, raw], rule)).toEqual(['export.jpg']);
    for (const rule of ['first', 'oldest'] as const) expect(idsToDelete([jpeg, raw], rule)).toEqual([]);
    expect(idsToDelete([raw, { ...raw, id: 'copy.CR2' }, jpeg], 'first')).toEqual(['copy.CR2', 'export.jpg']);
  });

  it('is the RAW and the JPEG of one shot together', () => {
    const raw = { id: 'a/r.cr2', width: 160, height: 120 } as FoundDocument;
    const shot = photo('a/R.JPG', 6000, 4000, 8e6);
    const copy = photo('b/r.jpg', 6000, 4000, 8e6);
    for (const rule of ['best', 'largest', 'format'] as const) {
      expect(idsToDelete([copy, shot, raw], rule)).toEqual(['b/r.jpg']);
    }
    expect(idsToDelete([shot, raw, copy], 'first')).toEqual(['b/r.jpg']);
  });

  it('can be a folder if there are several', () => {
    expect(foldersOf([...members, { ...one, id: 'a/four.jpg' } as unknown as FoundDocument])).toEqual(['/p/a', '/p']);
    expect(foldersOf([members[0] as FoundDocument])).toEqual([]);
  });
});
