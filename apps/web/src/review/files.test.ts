import type { FoundDocument } from '@akin/client';
import { describe, expect, it } from '@jest/globals';
import { membersAbove, pathsToDelete, visibleMarks } from './files.ts';
import { takeovers } from './merge.ts';

const file = (id: string, more: object = {}) => ({ id, source: '/p', ...more }) as FoundDocument;
const paths = (groups: FoundDocument[][], marked: string[]) => pathsToDelete(groups, new Set(marked)).paths;

describe('members of a group', () => {
  const scored = [0.2, 0.95, 0.8].map((score, i) => ({ id: `${i}`, score }));
  const group = { id: '0', representative: '0', size: 3, members: scored, pairs: [] };

  it('are counted from a score on', () => {
    expect(membersAbove(group, 0.9).map(({ id }) => id)).toEqual(['0', '1']);
    const marked = new Set(['0', '1', '2', 'gone']);
    expect([...visibleMarks(marked, [group], 0)]).toEqual(['0', '1', '2']);
    expect([...visibleMarks(marked, [group], 0.9)]).toEqual(['0', '1']);
    // One picture alone is no group.
    expect([...visibleMarks(marked, [group], 0.99)]).toEqual([]);
  });
});

describe('the paths of files to delete', () => {
  const group = [file('a.jpg'), file('b.jpg'), file('c.jpg')];

  it.each([
    ['are those of marked members', ['a.jpg', 'b.jpg'], ['/p/a.jpg', '/p/b.jpg']],
    ['never hold a whole group', ['a.jpg', 'b.jpg', 'c.jpg'], ['/p/b.jpg', '/p/c.jpg']],
  ])('%s', (_, marked, expected) => {
    expect(paths([group], marked)).toEqual(expected);
    expect(pathsToDelete([group], new Set(marked)).left).toBe(marked.length - expected.length);
  });

  it('leave out the best file if only a member without a file is kept', () => {
    expect(
      paths(
        [[...group, { id: 'web', image: 'https://a.example/a.jpg' } as FoundDocument]],
        ['a.jpg', 'b.jpg', 'c.jpg'],
      ),
    ).toEqual(['/p/b.jpg', '/p/c.jpg']);
    expect(paths([[file('a.jpg'), file('gone.jpg', { missing: true })]], ['a.jpg'])).toEqual([]);
  });

  it('leave out a file that is also that of a kept member, in whatever group', () => {
    const twin = file('p/a.jpg', { source: '/' });
    expect(paths([[file('b.jpg'), twin], group], ['p/a.jpg', 'b.jpg', 'c.jpg'])).toEqual(['/p/b.jpg', '/p/c.jpg']);
    const linked = { file_inode: 7, file_hash: 1, bytes: 9 };
    expect(paths([[file('a', linked), file('b', linked)]], ['b'])).toEqual([]);
  });

  it('is written as the system writes them', () => {
    expect(paths([[file('x/a.jpg', { source: 'C:\\p\\' }), file('b.jpg')]], ['x/a.jpg'])).toEqual(['C:\\p\\x\\a.jpg']);
    expect(paths([[file('x/a.jpg', { source: '/odd\\name' }), file('b.jpg')]], ['x/a.jpg'])).toEqual([
      '/odd\\name/x/a.jpg',
    ]);
    expect(paths([[file('hash', { path: 'x/a.jpg' }), file('b.jpg')]], ['hash'])).toEqual(['/p/x/a.jpg']);
  });
});

describe('what a kept document takes over', () => {
  const kept = file('a.jpg', { width: 9, height: 9, labels: ['x'], price: 5 });

  it('is labels and fields of people that it has not', () => {
    const others = [
      file('b.jpg', {
        labels: ['y', 'x'],
        price: 6,
        note: 'first',
        camera: 'C',
        bytes: 7,
        copyspace: [1],
        file_hash: 3,
      }),
      file('c.jpg', { labels: ['y', 'z'], note: 'second', rating: 4, title: 'C' }),
    ];
    expect(takeovers([[kept, ...others]], new Set(['b.jpg', 'c.jpg']))).toEqual([
      {
        id: 'a.jpg',
        _version_: 1,
        note: { set: 'first' },
        rating: { set: 4 },
        labels: { 'add-distinct': ['y', 'z'] },
      },
    ]);
  });

  it.each([
    ['nothing if it has all', [kept, file('b.jpg', { labels: ['x'], price: 9 })], ['b.jpg']],
    ['nothing if none is marked', [kept, file('b.jpg', { labels: ['y'] })], []],
    ['nothing if none is kept', [file('b.jpg', { labels: ['y'] })], ['b.jpg']],
  ])('is %s', (_, members, marked) => {
    expect(takeovers([members], new Set(marked))).toEqual([]);
  });
});
