import type { Field, Schema } from '@akin/domain';
import { growth, LINEAR } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { type FieldList, needsScores, readFieldList, requestedDistances, requestedFields } from './field-list.ts';

const field = (name: string, returnedByDefault = true): [string, Field] => [
  name,
  {
    name,
    type: name === 'text' ? 'text' : 'string',
    origin: name.startsWith('color_') ? 'analysis' : 'document',
    returnedByDefault,
  },
];
const schema: Schema = new Map([
  field('id'),
  field('text', false),
  field('color_names'),
  field('color_rerank'),
  field('color_descriptor', false),
  field('shoe size'),
  field('a*b'),
]);
const read = (fl: string[], ranked = false) => readFieldList(fl, ranked, (name) => ({ pt: '1,2' })[name]);
const namesOf = (list: FieldList) => requestedFields(list, schema).map(({ name }) => name);
const wanted = (...fl: string[]) => namesOf(read(fl));

describe('fl', () => {
  it('if absent means every field but codes and descriptors, and the score of ranked searches', () => {
    expect(wanted()).toEqual(['id', 'color_names', 'color_rerank', 'shoe size', 'a*b']);
    expect(read([], true).score).toBe(true);
    expect(read([], false).score).toBe(false);
    expect(read(['*'], true).score).toBe(false);
    expect(read(['*,score'], false).score).toBe(true);
  });

  it('accepts names separated by comma or blank, and repeated', () => {
    expect(wanted('id,color_names')).toEqual(['id', 'color_names']);
    expect(wanted('id color_names')).toEqual(['id', 'color_names']);
    expect(wanted('color_names', ' id ,')).toEqual(['id', 'color_names']);
    expect(wanted('nothing')).toEqual([]);
  });

  it('accepts wildcards, which match no descriptor, and descriptors by name', () => {
    expect(wanted('color_*')).toEqual(['color_names', 'color_rerank']);
    expect(wanted('?d')).toEqual(['id']);
    expect(wanted('color_descriptor')).toEqual(['color_descriptor']);
    expect(wanted('*_descriptor')).toEqual([]);
  });

  it('leaves out the outputs of the analysis, except those that are named', () => {
    const own = ['id', 'shoe size', 'a*b'];
    expect(wanted('*,-outputs')).toEqual(own);
    // Otherwise the store would be asked for all of them.
    expect(read(['*,-outputs']).all).toBe(false);
    expect(wanted('-outputs', 'score')).toEqual(own);
    expect(read(['-outputs'], true).score).toBe(true);
    expect(wanted('-outputs *,color_names color_descriptor')).toEqual([
      'id',
      'color_names',
      'color_descriptor',
      'shoe size',
      'a*b',
    ]);
    expect(wanted('color_*,-outputs')).toEqual([]);
    expect(wanted('\\-outputs')).toEqual([]);
  });

  it('reads escaped characters literally', () => {
    expect(wanted('shoe\\ size')).toEqual(['shoe size']);
    expect(wanted('a\\*b')).toEqual(['a*b']);
  });

  it('treats score alone as all fields with the score', () => {
    expect(wanted('score')).toHaveLength(5);
    expect(read(['score'], false).score).toBe(true);
  });

  it('never returns the default search field', () => {
    expect(wanted('text')).toEqual([]);
  });

  it('matches a pattern of many stars in time proportional to its length', async () => {
    const long = new Map([field('a'.repeat(128))]);
    const match = (stars: number) => {
      for (let i = 0; i < 200; i++) {
        expect(requestedFields(read([`${'*a'.repeat(stars)}*b`], false), long)).toEqual([]);
      }
    };
    expect(await growth(match, 15)).toBeLessThan(LINEAR);
  });

  it('refuses a list of megabytes', () => {
    expect(() => read(['a'.repeat(20_000_000)])).toThrow('more than 1000000 characters');
  });

  it('renames fields, the score and functions', () => {
    const list = read([
      'id,colours:color_names',
      'relevance:score dist:geodist() geodist(shop, 3, 4) the\\ size:shoe\\ size',
    ]);
    expect(list.computed).toEqual([
      { alias: 'colours', kind: 'field', name: 'color_names' },
      { alias: 'relevance', kind: 'score' },
      { alias: 'dist', kind: 'distance', distance: { field: 'location', from: { lat: 1, lon: 2 } } },
      { alias: 'geodist(shop, 3, 4)', kind: 'distance', distance: { field: 'shop', from: { lat: 3, lon: 4 } } },
      { alias: 'the size', kind: 'field', name: 'shoe size' },
    ]);
    expect([list.score, list.all, needsScores(list)]).toEqual([false, false, true]);
    expect(namesOf(list)).toEqual(['id', 'color_names', 'shoe size']);
    expect(requestedDistances(list)).toHaveLength(2);
    expect(read(['d:geodist()']).all).toBe(false);
    expect(read(['*', 'd:geodist()']).all).toBe(true);
    expect(read(['x:field(id)']).computed).toEqual([{ alias: 'x', kind: 'field', name: 'id' }]);
    expect(read(['a\\:b'])).toMatchObject({ computed: [] });
    expect(read(['id '.repeat(1_000), 'x:id '.repeat(100)]).computed).toHaveLength(100);
  });

  it.each([
    ['log(price)', '"log(price)" is not understood'],
    ['x:sum(a,b)', '"sum(a,b)" is not understood'],
    ['[docid]', '"[docid]" is not understood'],
    ['geodist(1)', 'geodist takes a field'],
    ['geodist() '.repeat(101), 'more than 100 renamed fields and functions'],
    ['x:id '.repeat(101), 'more than 100 renamed fields and functions'],
    ['x:geodist() y:id z:score '.repeat(34), 'more than 100 renamed fields and functions'],
  ])('refuses %s by name', (fl, problem) => {
    expect(() => read([fl])).toThrow(problem);
    expect(() => read([fl])).toThrow('Parameter fl: ');
  });
});
