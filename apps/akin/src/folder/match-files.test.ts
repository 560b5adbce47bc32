import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Files } from '../../test/files.ts';
import type { FoundFile, KnownFile } from './file-match.ts';
import { FileMatcher } from './match-files.ts';

/** Documents of files, as runs keep them. */
class Library {
  readonly files = new Files();
  known: KnownFile[] = [];
  missing = new Set<string>();
  analyzed: string[] = [];
  #ids = 0;

  async index({ root = '/', again = false, stopAfter = Number.POSITIVE_INFINITY } = {}): Promise<void> {
    const { files } = this;
    this.analyzed = [];
    const known = this.known.map((one) => ({ ...one, isMissing: this.missing.has(one.id) }));
    const matcher = new FileMatcher<KnownFile, FoundFile>(known, again);
    const seen = files.found(root).flatMap((found) => matcher.see(found) ?? []);
    const { matches, lost, doubles } = await matcher.resolve(files.disk, ({ place }) => place.startsWith(root));
    for (const match of [...seen, ...matches].slice(0, stopAfter)) {
      const { found } = match;
      const hash = files.hash(found.place);
      const id = match.kind === 'new' || match.kind === 'copied' ? `d${++this.#ids}` : match.known.id;
      if (match.kind === 'new' || match.kind === 'edited') this.analyzed.push(found.place);
      const wasDeleted = match.kind !== 'new' && match.known.isDeleted;
      const isDeleted = wasDeleted && match.kind !== 'edited';
      const { place, bytes, modified, changed, inode } = found;
      this.known = this.known.filter((one) => one.id !== id);
      // What the file was before stays deleted.
      if (wasDeleted && !isDeleted) this.known.push({ ...match.known, id: `d${++this.#ids}` });
      this.missing.delete(id);
      this.known.push(
        match.kind === 'same'
          ? match.known
          : {
              id,
              place,
              bytes,
              modified,
              hash,
              isDeleted,
              isMissing: false,
              ...(isDeleted ? { changed: undefined, inode: undefined } : { changed, inode }),
            },
      );
    }
    if (stopAfter < Number.POSITIVE_INFINITY) return;
    this.missing = new Set([...this.missing, ...lost.map(({ id }) => id)]);
    this.known = this.known.filter((one) => !doubles.some(({ double }) => double.id === one.id));
  }

  /** The id of the document at a place. */
  idAt(place: string): string | undefined {
    const there = this.known.filter((one) => one.place === place && !one.isDeleted && !this.missing.has(one.id));
    expect(there.length).toBeLessThanOrEqual(1);
    return there[0]?.id;
  }

  delete(place: string): void {
    const id = this.idAt(place);
    this.known = this.known.map((one) =>
      one.id === id ? { ...one, isDeleted: true, changed: undefined, inode: undefined } : one,
    );
  }

  /** Which documents are where, without those that are missing. */
  get places(): Record<string, string> {
    const there = this.known.filter(({ id, isDeleted }) => !isDeleted && !this.missing.has(id));
    return Object.fromEntries(there.map(({ id, place }) => [place, id]).sort());
  }
}

/** A library of three files, indexed: d1 at /a, d2 at /b, d3 at /c. All have one size. */
async function library(): Promise<Library> {
  const made = new Library();
  for (const name of ['a', 'b', 'c']) made.files.write(`/${name}`, `content of ${name}`);
  await made.index();
  return made;
}

const START = { '/a': 'd1', '/b': 'd2', '/c': 'd3' };
const CASES: readonly (readonly [
  string,
  (files: Files) => void,
  Record<string, string>,
  { readonly analyzed?: readonly string[]; readonly missing?: readonly string[] }?,
])[] = [
  ['nothing happens', () => {}, START],
  ['a file is touched', (files) => files.touch('/a'), START],
  ['a file is edited to the same size', (files) => files.write('/a', 'new'), START, { analyzed: ['/a'] }],
  ['a file is renamed', (files) => files.move('/a', '/z'), { '/z': 'd1', '/b': 'd2', '/c': 'd3' }],
  [
    'a file is moved over another one',
    (files) => files.move('/a', '/b'),
    { '/b': 'd1', '/c': 'd3' },
    { missing: ['d2'] },
  ],
  ['a file is copied', (files) => files.copy('/a', '/z', true), { ...START, '/z': 'd4' }, { analyzed: ['/z'] }],
  ['a file gets a second name', (files) => files.link('/a', '/0'), START],
  ['a file is removed', (files) => files.remove('/a'), { '/b': 'd2', '/c': 'd3' }, { missing: ['d1'] }],
  [
    'a file is copied and removed, as by a move to another disk',
    (files) => {
      files.copy('/a', '/z');
      files.remove('/a');
    },
    { '/z': 'd1', '/b': 'd2', '/c': 'd3' },
  ],
  [
    'two files are swapped',
    (files) => {
      files.move('/a', '/t');
      files.move('/b', '/a');
      files.move('/t', '/b');
    },
    { '/a': 'd2', '/b': 'd1', '/c': 'd3' },
  ],
  [
    'contents are swapped in place',
    (files) => {
      files.write('/a', 'content of b');
      files.write('/b', 'content of a');
    },
    { '/a': 'd2', '/b': 'd1', '/c': 'd3' },
  ],
  [
    'a file is renamed and edited',
    (files) => {
      files.move('/a', '/z');
      files.write('/z', 'new', 50);
    },
    { '/z': 'd1', '/b': 'd2', '/c': 'd3' },
    { analyzed: ['/z'] },
  ],
  [
    'the letters of a name change, and a program writes the file again',
    (files) => {
      files.remove('/a');
      files.write('/A', 'new', 50);
    },
    { '/A': 'd1', '/b': 'd2', '/c': 'd3' },
    { analyzed: ['/A'] },
  ],
  [
    'a file is moved, and another one takes its place',
    (files) => {
      files.move('/a', '/z');
      files.write('/a', 'new');
    },
    { '/a': 'd4', '/z': 'd1', '/b': 'd2', '/c': 'd3' },
    { analyzed: ['/a'] },
  ],
  [
    'a file is copied, and then edited',
    (files) => {
      files.copy('/a', '/z', true);
      files.write('/a', 'new');
    },
    { ...START, '/z': 'd4' },
    { analyzed: ['/a', '/z'] },
  ],
  [
    'a file is edited by a program that renames the original',
    (files) => {
      files.move('/a', '/a_original');
      files.write('/a', 'new');
    },
    { ...START, '/a_original': 'd4' },
    { analyzed: ['/a', '/a_original'] },
  ],
];

describe('the documents of files', () => {
  it('stay with the copy that was kept when it gets the name of the deleted one', async () => {
    const it = await library();
    it.files.copy('/a', '/kept', true);
    await it.index();
    it.delete('/a');
    await it.index();
    it.files.remove('/a');
    it.files.move('/kept', '/a');
    await it.index();
    expect([it.idAt('/a'), [...it.missing]]).toEqual(['d4', []]);
  });

  it('keep their folders when a library with equal files moves to another disk', async () => {
    const it = new Library();
    it.files.write('/old/B/x', 'x');
    await it.index();
    it.files.copy('/old/B/x', '/old/A/x', true);
    await it.index();
    for (const folder of ['A', 'B']) it.files.copy(`/old/${folder}/x`, `/new/${folder}/x`, true);
    for (const folder of ['A', 'B']) it.files.remove(`/old/${folder}/x`);
    await it.index();
    expect(it.places).toEqual({ '/new/A/x': 'd2', '/new/B/x': 'd1' });
  });

  it.each(CASES)('when %s', async (_, change, places, { analyzed = [], missing = [] } = {}) => {
    const it = await library();
    change(it.files);
    await it.index();
    expect([it.places, it.analyzed.sort(), [...it.missing]]).toEqual([places, analyzed, missing]);
    await it.index();
    expect([it.places, it.analyzed]).toEqual([places, []]);
    await it.index({ again: true });
    expect([it.places, it.analyzed]).toEqual([places, []]);
  });

  it('stay deleted under another name, also next to a copy that was kept', async () => {
    const it = await library();
    it.files.copy('/a', '/kept');
    await it.index();
    it.delete('/a');
    it.files.move('/a', '/moved');
    await it.index();
    expect(it.places).toEqual({ '/b': 'd2', '/c': 'd3', '/kept': 'd4' });
    it.files.move('/moved', '/again');
    it.files.copy('/kept', '/copy');
    await it.index();
    expect(it.places).toEqual({ '/b': 'd2', '/c': 'd3', '/kept': 'd4', '/copy': 'd5' });
    it.files.write('/again', 'new');
    await it.index();
    expect(it.idAt('/again')).toBe('d1');
  });

  it('come back under their ids when their deleted files are edited, and not their backups', async () => {
    const it = await library();
    it.delete('/a');
    it.files.move('/a', '/a_original');
    it.files.write('/a', 'new');
    await it.index();
    expect([it.idAt('/a'), it.idAt('/a_original'), it.analyzed]).toEqual(['d1', undefined, ['/a']]);
    it.delete('/b');
    it.files.copy('/c', '/b');
    await it.index();
    expect(it.idAt('/b')).not.toBe('d2');
    it.files.copy('/a_original', '/copy');
    await it.index();
    expect([it.idAt('/copy'), it.analyzed]).toEqual([undefined, []]);
  });

  it('stay deleted for further copies, while no document has this content', async () => {
    const it = await library();
    it.delete('/a');
    it.files.copy('/a', '/copy');
    await it.index();
    it.files.remove('/a');
    it.files.move('/copy', '/moved');
    await it.index();
    expect([it.places, it.analyzed]).toEqual([{ '/b': 'd2', '/c': 'd3' }, []]);
  });

  it('stay deleted when the file at their place was another one for a while', async () => {
    const it = await library();
    it.delete('/a');
    it.files.move('/a', 'unplugged');
    it.files.write('/a', 'of another card');
    await it.index();
    it.files.move('/a', 'other');
    it.files.move('unplugged', '/a');
    await it.index();
    expect([it.idAt('/a'), it.analyzed, [...it.missing]]).toEqual([undefined, [], ['d1']]);
  });

  it('are not edited by a copy of a deleted picture at the place of a file that is gone', async () => {
    const it = await library();
    it.delete('/b');
    it.files.remove('/c');
    await it.index();
    it.files.copy('/b', '/c');
    await it.index();
    expect([it.places, [...it.missing]]).toEqual([{ '/a': 'd1' }, ['d3']]);
    it.files.write('/c', 'c');
    await it.index();
    expect(it.places).toEqual({ '/a': 'd1', '/c': 'd3' });
  });

  it('come back when their files are back, also elsewhere', async () => {
    const it = await library();
    it.files.move('/a', 'unplugged');
    it.files.move('/b', 'gone');
    await it.index();
    expect([...it.missing].sort()).toEqual(['d1', 'd2']);
    it.files.move('unplugged', '/a');
    it.files.copy('gone', '/new');
    await it.index();
    expect([it.places, it.analyzed]).toEqual([{ '/a': 'd1', '/new': 'd2', '/c': 'd3' }, []]);
  });

  it('are not taken by a copy on another disk while their own is there', async () => {
    const it = new Library();
    it.files.write('/one/a', 'a');
    await it.index({ root: '/one' });
    it.files.copy('/one/a', '/two/a', true);
    await it.index({ root: '/two' });
    expect(it.places).toEqual({ '/one/a': 'd1', '/two/a': 'd2' });
  });

  it('are one for a file that a link of another folder leads to', async () => {
    const it = new Library();
    it.files.write('/one/a', 'a');
    await it.index({ root: '/one' });
    it.files.link('/one/a', '/two/b');
    await it.index({ root: '/two' });
    await it.index();
    expect(it.places).toEqual({ '/one/a': 'd1' });
  });

  it('notice an edit of their file under a name of another folder', async () => {
    const it = new Library();
    it.files.write('/one/a', 'a');
    await it.index({ root: '/one' });
    it.files.link('/one/a', '/two/b');
    it.files.edit('/one/a', 'edited');
    await it.index({ root: '/two' });
    expect([Object.values(it.places), it.analyzed]).toEqual([['d1'], ['/two/b']]);
  });

  it('become one when copies are replaced by links', async () => {
    const it = await library();
    it.files.copy('/a', '/copy');
    await it.index();
    it.files.remove('/copy');
    it.files.link('/a', '/copy');
    await it.index();
    expect(Object.keys(it.places)).toHaveLength(3);
    expect(it.missing.size).toBe(0);
  });

  it('stay with their pictures, whatever happens to files, in any order, and after a run that was killed', async () => {
    const name = fc.constantFrom('/a', '/b', '/c', '/d/e', '/d/f', '/d/a');
    const operation = fc.oneof(
      fc.record({ kind: fc.constantFrom('move' as const, 'copy' as const, 'swap' as const), from: name, to: name }),
      fc.record({ kind: fc.constantFrom('edit' as const, 'touch' as const, 'remove' as const), from: name }),
      fc.record({ kind: fc.constant('delete' as const), from: name }),
    );
    // After how many files the first run is killed.
    const kill = fc.option(fc.nat(4), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(operation, kill), { maxLength: 12 }), async (operations) => {
        const it = await library();
        const { files } = it;
        // The picture at each place, by the id of its document; a deleted one has no document.
        const expected = new Map<string, string | undefined>(Object.entries(START));
        for (const [step, [one, stopAfter]] of operations.entries()) {
          const index = async () => {
            if (stopAfter !== undefined) await it.index({ stopAfter });
            await it.index();
          };
          const { from } = one;
          if (!files.at.has(from)) continue;
          const to = 'to' in one ? one.to : from;
          if (one.kind === 'move' && from !== to) {
            files.move(from, to);
            expected.set(to, expected.get(from));
            expected.delete(from);
          } else if (one.kind === 'copy' && !files.at.has(to)) {
            files.copy(from, to);
            await index();
            const id = it.idAt(to);
            // Another document, unless it is what remains of one whose file is gone; of a deleted one, a deleted one.
            if (expected.get(from) === undefined) expect(id).toBeUndefined();
            expect(id === undefined || ![...expected.values()].includes(id)).toBe(true);
            expected.set(to, id);
          } else if (one.kind === 'swap' && from !== to && files.at.has(to)) {
            files.move(from, '/swap');
            files.move(to, from);
            files.move('/swap', to);
            const before = expected.get(from);
            expected.set(from, expected.get(to));
            expected.set(to, before);
          } else if (one.kind === 'edit') {
            files.write(from, `edit ${step}`);
            await index();
            // A deleted one comes back when it is edited.
            if (expected.get(from) === undefined) expected.set(from, it.idAt(from));
          } else if (one.kind === 'touch') files.touch(from);
          else if (one.kind === 'remove') {
            files.remove(from);
            expected.delete(from);
          } else if (one.kind === 'delete') {
            // Of equal files that change places, nothing tells which one was deleted.
            const others = [...files.at.keys()].filter((place) => place !== from);
            if (others.some((place) => files.hash(place) === files.hash(from))) continue;
            it.delete(from);
            expected.set(from, undefined);
          }
          await index();
          for (const [place, id] of expected) expect([place, it.idAt(place)]).toEqual([place, id]);
          expect(Object.keys(it.places).every((place) => files.at.has(place))).toBe(true);
          await it.index();
          expect(it.analyzed).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });
});
