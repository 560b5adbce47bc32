import type { FieldType } from '@akin/domain';
import { expect, it } from '@jest/globals';
import { ValueOrder } from './value-order.ts';

it.each<[FieldType, string[], string]>([
  ['string', ['', 'B', 'a', 'ab', 'é', 'ｚ', '🟢'], 'aa'],
  ['long', ['-9223372036854775808', '-1', '0', '9', '10', '9007199254740992', '9007199254740993'], '8'],
  ['double', ['-1e+21', '-1.5', '0', '5e-324', '0.1', '1e+21'], '0.05'],
  ['boolean', ['false', 'true'], 'none'],
  ['date', ['-62135596800.000000', '0.000000', '1706659200.123000'], '1706659200.122'],
])('orders values of a %s, whenever they come', (type, sorted, missing) => {
  for (let known = 0; known <= sorted.length; known++) {
    const first = sorted.filter((_, i) => i % 2 === 0).slice(0, known);
    const others = sorted.filter((value) => !first.includes(value)).reverse();
    const ordinals = new Map(first.map((value, i) => [value, i + 1]));
    const order = new ValueOrder(type, ordinals, first.length);
    order.places();
    for (const value of others) {
      ordinals.set(value, ordinals.size + 1);
      if (ordinals.size % 2 === 0) order.places();
    }
    const places = order.places();
    expect(sorted.map((value) => places[ordinals.get(value) as number])).toEqual([...sorted.keys()]);
    expect(sorted.map((value) => order.placeOf(value))).toEqual([...sorted.keys()]);
    const before = sorted.findIndex((value) => compare(type, value, missing) > 0);
    expect(order.placeOf(missing)).toBe((before < 0 ? sorted.length : before) - 0.5);
  }
});

const compare = (type: FieldType, a: string, b: string) =>
  type === 'string' || type === 'boolean' ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : Number(a) - Number(b);
