import { describe, expect, it } from '@jest/globals';
import { factsRecord, updateOfFacts } from './file-facts.ts';

const TITLES = { before: 'IMG 1', now: 'IMG 1' };
const SAID = {
  taken: '2023-06-15T14:30:00.000Z',
  location: '52.50,13.4',
  title: 'Lake',
  caption: 'At the lake',
  keywords: 'sea; boat',
  rating: 4,
};
/** The document of the file, as it is read back. */
const STORED = { ...SAID, taken: '2023-06-15T14:30:00Z', location: '52.5,13.4', file_facts: factsRecord(SAID) };

describe('what a file says after an edit', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
    ['is taken', {}, { caption: 'At the sea', rating: 5 }, { caption: { set: 'At the sea' }, rating: { set: 5 } }],
    [
      'is removed where it says it no more',
      {},
      { caption: undefined, taken: undefined },
      { caption: { set: null }, taken: { set: null } },
    ],
    [
      'does not replace what people set',
      { caption: 'Mine', rating: 1 },
      { caption: 'new', rating: undefined },
      { caption: undefined, rating: undefined },
    ],
    ['does not bring back what people removed', { caption: undefined }, { caption: 'new' }, { caption: undefined }],
    [
      'is taken for what it did not say before',
      { camera: undefined },
      { camera: 'Canon' },
      { camera: { set: 'Canon' } },
    ],
    ['does not replace a title that people set', { title: 'Mine' }, { title: 'new' }, { title: undefined }],
    ['leaves the name of the file as the title', {}, { title: undefined }, { title: { set: 'IMG 1' } }],
  ])('%s', (_, stored, said, expected) => {
    const { fields } = updateOfFacts({ ...STORED, ...stored }, { ...SAID, ...said } as never, TITLES);
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, fields[name]]))).toEqual(expected);
  });

  it('changes only the labels that it says now, or says no more', () => {
    const { newLabels, formerLabels } = updateOfFacts(STORED, { ...SAID, keywords: 'boat; sun' }, TITLES);
    expect([newLabels, formerLabels]).toEqual([['sun'], ['sea']]);
  });

  it('replaces a title from the old name by one from the new name', () => {
    const { fields } = updateOfFacts({ title: 'IMG 1' }, {}, { before: 'IMG 1', now: 'Lake' });
    expect([fields.title, fields.file_facts]).toEqual([{ set: 'Lake' }, { set: null }]);
  });
});
