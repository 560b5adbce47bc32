import { expect, it } from '@jest/globals';
import { csvOf } from './csv.ts';

it('quotes every cell, and shows formulas as text', () => {
  expect(
    csvOf([
      ['id', 'say "x"'],
      ['a,b', ''],
    ]),
  ).toBe('"id","say ""x"""\r\n"a,b",""\r\n');
  for (const text of ['=1+1', '+1', '-1+2', '-A1', '@a', '\tx', '-1,2,3']) {
    expect(csvOf([[text]])).toBe(`"'${text}"\r\n`);
  }
});

it('leaves negative numbers and places as they are', () => {
  for (const text of ['-4', '-0.5', '-1e-7', '-33.8688,151.2093', '-34.6,-58.38', '48.1,-11.5']) {
    expect(csvOf([[text]])).toBe(`"${text}"\r\n`);
  }
});
