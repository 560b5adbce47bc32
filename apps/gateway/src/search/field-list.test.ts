import type { Field, Schema } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { readFieldList, wantedFields } from './field-list.ts';

const field = (name: string, returnedByDefault = true): [string, Field] => [
  name,
  { name, type: name === 'text' ? 'text' : 'string', origin: 'document', returnedByDefault },
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
const wanted = (...fl: string[]) => wantedFields(readFieldList(fl, false), schema);

describe('fl', () => {
  it('means every field but codes and descriptors when absent, and the score on ranked searches', () => {
    expect(wanted()).toEqual(['id', 'color_names', 'color_rerank', 'shoe size', 'a*b']);
    expect(readFieldList([], true).score).toBe(true);
    expect(readFieldList([], false).score).toBe(false);
    expect(readFieldList(['*'], true).score).toBe(false);
    expect(readFieldList(['*,score'], false).score).toBe(true);
  });

  it('takes names by comma, blank and repetition', () => {
    expect(wanted('id,color_names')).toEqual(['id', 'color_names']);
    expect(wanted('id color_names')).toEqual(['id', 'color_names']);
    expect(wanted('color_names', ' id ,')).toEqual(['id', 'color_names']);
    expect(wanted('nothing')).toEqual([]);
  });

  it('takes globs, which bring no descriptor, and descriptors by name', () => {
    expect(wanted('color_*')).toEqual(['color_names', 'color_rerank']);
    expect(wanted('?d')).toEqual(['id']);
    expect(wanted('color_descriptor')).toEqual(['color_descriptor']);
    expect(wanted('*_descriptor')).toEqual([]);
  });

  it('takes escaped characters as themselves', () => {
    expect(wanted('shoe\\ size')).toEqual(['shoe size']);
    expect(wanted('a\\*b')).toEqual(['a*b']);
  });

  it('treats score alone as all fields with the score', () => {
    expect(wanted('score')).toHaveLength(5);
    expect(readFieldList(['score'], false).score).toBe(true);
  });

  it('never returns the default search field', () => {
    expect(wanted('text')).toEqual([]);
  });

  it('answers at once for a pattern of many stars', () => {
    const long = new Map([field('a'.repeat(128))]);
    const started = performance.now();
    expect(wantedFields(readFieldList([`${'*a'.repeat(60)}*b`], false), long)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(100);
  });
});
