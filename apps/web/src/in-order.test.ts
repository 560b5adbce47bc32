import { expect, it } from '@jest/globals';
import { inOrder, inTurn } from './in-order.ts';

it('drops an answer that comes after a newer one, and no other', async () => {
  const ask = inOrder();
  let answer = (_: string) => {};
  const first = ask(() => new Promise<string>((resolve) => (answer = resolve)));
  expect(await ask(async () => 'second')).toBe('second');
  answer('first');
  expect(await first).toBeUndefined();
  await expect(ask(() => Promise.reject(new Error('none')))).rejects.toThrow('none');
  expect(await ask(async () => 'third')).toBe('third');
});

it('works one after the other, also after an error', async () => {
  const work = inTurn();
  const done: string[] = [];
  let fail = () => {};
  const first = work(async () => {
    await new Promise<void>((resolve) => (fail = resolve));
    done.push('first');
    throw new Error('it failed');
  });
  const second = work(async () => done.push('second'));
  // The first one begins later than its call.
  setTimeout(() => fail());
  await expect(first).rejects.toThrow('it failed');
  await second;
  expect(done).toEqual(['first', 'second']);
});
