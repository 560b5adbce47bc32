import { describe, expect, it } from '@jest/globals';
import { NewIds } from './new-ids.ts';

describe('ids of files', () => {
  it('are paths in composed letters, with the name of the source in front if another file has the id', () => {
    const ids = new NewIds(['a/1.jpg']);
    expect(ids.next('/media/card', 'a/e\u0301.jpg')).toBe('a/\u00e9.jpg');
    expect(ids.next('/media/card', 'a/1.jpg')).toBe('card/a/1.jpg');
    expect(ids.next('/mnt/card', 'a/1.jpg')).toBe('2/card/a/1.jpg');
    expect(ids.next('/', 'a/1.jpg')).toBe('root/a/1.jpg');
  });

  it('are at most 512 bytes long, whole characters, and different for different paths', () => {
    const ids = new NewIds([]);
    const [one, two] = ['1', '2'].map((end) => ids.next('/photos', `${'家'.repeat(200)}${end}.jpg`));
    expect(one).toMatch(/^家{165}~[0-9a-f]{16}$/);
    expect(two).not.toBe(one);
    expect(ids.next('/photos', `${'家'.repeat(200)}1.jpg`)).toMatch(/^photos\/家+~[0-9a-f]{16}$/);
  });
});
