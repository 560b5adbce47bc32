import { describe, expect, it } from '@jest/globals';
import { fewerFiles } from './sample-folder.ts';

describe('fewerFiles', () => {
  const names = (count: number, endings: readonly string[]) =>
    Array.from({ length: count }, (_, i) => endings.map((ending) => `${1000 + i}.${ending}`)).flat();

  it('keeps a few files, with any names', () => {
    expect(fewerFiles(10, names(5, ['caption', 'jpg']))).toEqual(names(5, ['caption', 'jpg']));
  });

  it('takes pictures out of many, from all of the list', () => {
    expect(fewerFiles(10, names(20, ['caption', 'JPG']))).toEqual(names(20, ['JPG']).filter((_, i) => i % 2 === 0));
    for (const ending of ['webp', 'jfif', 'JPE']) {
      expect(fewerFiles(8, names(8, ['caption', ending]))).toEqual(names(8, [ending]));
    }
  });

  it('fills up with other files if there are too few names of pictures', () => {
    const others = names(5, ['bin']);
    expect(fewerFiles(4, [...others, 'zz.jpg'])).toEqual([others[0], others[1], others[3], 'zz.jpg']);
    expect(fewerFiles(4, ['aa.jpg', ...others])).toEqual(['aa.jpg', others[0], others[1], others[3]]);
  });

  it('takes any files if none has the name of a picture', () => {
    expect(fewerFiles(10, names(20, ['bin']))).toEqual(names(20, ['bin']).filter((_, i) => i % 2 === 0));
  });
});
