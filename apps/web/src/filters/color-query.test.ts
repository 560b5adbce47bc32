import { expect, it } from '@jest/globals';
import { readColors, writeColors } from './color-query.ts';

it.each([
  ['#d02030', [{ hex: '#d02030', weight: 1 }], '#d02030'],
  [
    '#D02030:3,0x0000ff',
    [
      { hex: '#d02030', weight: 3 },
      { hex: '#0000ff', weight: 1 },
    ],
    '#d02030:3,#0000ff:1',
  ],
  [
    '#abc:2,#fff:2',
    [
      { hex: '#aabbcc', weight: 2 },
      { hex: '#ffffff', weight: 2 },
    ],
    '#aabbcc,#ffffff',
  ],
  [
    '#d02030:-1,#d02030:x',
    [
      { hex: '#d02030', weight: 1 },
      { hex: '#d02030', weight: 1 },
    ],
    '#d02030,#d02030',
  ],
])('reads the colours of %s, and writes them as short as they can be', (text, colors, written) => {
  expect(readColors(text)).toEqual(colors);
  expect(writeColors(colors)).toBe(written);
});
