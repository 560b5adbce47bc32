import { expect, it } from '@jest/globals';
import { cardFieldChoices, guessCardFields } from './card-fields.ts';

const field = (text: string) => {
  const [name = '', type = 'string', origin = 'document'] = text.split(':');
  return { name, type: type.replace('[]', ''), origin, multiValued: type.endsWith('[]') };
};

it.each([
  [
    ['title', 'stock:long', 'brand', 'price:double', 'season:date'],
    ['price', 'brand'],
  ],
  [['width:long', 'modified:date', 'taken:date', 'camera'], ['taken']],
  [
    ['unit_price:double', 'created_at:date'],
    ['unit_price', 'created_at'],
  ],
  [['price', 'brand:long'], []],
  [['price:double[]', 'brand:string:analysis'], []],
  [[], []],
])('of the fields %j, cards show %j', (fields, shown) => {
  expect(guessCardFields(fields.map(field))).toEqual(shown);
});

it('offers the single-valued fields of documents', () => {
  const fields = ['title', 'brand', 'sizes:string[]', 'color_names:string[]:analysis', 'price:double'].map(field);
  expect(cardFieldChoices(fields)).toEqual(['brand', 'price']);
});
