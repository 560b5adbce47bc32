import { describe, expect, it } from '@jest/globals';
import { fewerFiles } from './sample-folder.ts';

describe('fewerFiles', () => {
  const names = (count: number, endings: readonly string[]) =>
    Array.from({ length: count }, (_, i) => endings.map((ending) => `${1000 + i}.${ending}`)).flat();

  it('leaves few as they are, whatever they are named', () => {
    expect(fewerFiles(10, names(5, ['caption', 'jpg']))).toEqual(names(5, ['caption', 'jpg']));
  });

  it('takes pictures out of many, from all of the list', () => {
    expect(fewerFiles(10, names(20, ['caption', 'JPG']))).toEqual(names(20, ['JPG']).filter((_, i) => i % 2 === 0));
    for (const ending of ['webp', 'jfif', 'JPE']) {
      expect(fewerFiles(10, names(8, ['caption', ending]))).toEqual(names(8, [ending]));
    }
  });

  it('takes any where none is named as a picture', () => {
    expect(fewerFiles(10, names(20, ['bin']))).toEqual(names(20, ['bin']).filter((_, i) => i % 2 === 0));
  });
});
