import { expect, it } from '@jest/globals';
import { Memory, remembered } from './memory.ts';

it('forgets a collection in all parts, or all collections, of one store alone', () => {
  const [sizesOf, colorsOf] = [remembered<number>(), remembered<string, string>()];
  const [store, other] = [{ memory: new Memory() }, { memory: new Memory() }];
  for (const one of [store, other]) {
    sizesOf(one).set(1, 10).set(2, 20);
    colorsOf(one).set('a', 'red').set('b', 'blue');
  }
  store.memory.forget({ id: 1, name: 'a' });
  expect([...sizesOf(store), ...colorsOf(store)]).toEqual([
    [2, 20],
    ['b', 'blue'],
  ]);
  store.memory.forgetAll();
  expect([...sizesOf(store), ...colorsOf(store)]).toEqual([]);
  expect([...sizesOf(other).keys(), ...colorsOf(other).keys()]).toEqual([1, 2, 'a', 'b']);
});
