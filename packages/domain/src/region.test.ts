import { expect, it } from '@jest/globals';
import { parseRegion } from './region.ts';

it('reads four fractions inside the picture', () => {
  expect(parseRegion('0,0,1,1')).toEqual({ x: 0, y: 0, width: 1, height: 1 });
  expect(parseRegion(' .5 , 2.5e-1,+0.5,0.75')).toEqual({ x: 0.5, y: 0.25, width: 0.5, height: 0.75 });
  // 0.1 + 0.2 + 0.7 is not 1 for a computer.
  expect(parseRegion(`${0.1 + 0.2},0,0.7,1`)).not.toBeNull();
});

it.each([
  ...['', ',,,', '0,0,1', '0,0,1,1,1', '0;0;1;1', 'a,b,c,d', '0,0,NaN,1', '0,0,Infinity,1', '0x0,0,1,1'],
  ...['0,0,0,1', '0,0,1,0', '-0.1,0,0.5,0.5', '0.6,0,0.5,1', '0,0.6,1,0.5', '0,0,1.1,1', '0,0,1e9,1', '50,50,10,10'],
  ...['0,0,1,1\n', '０,０,１,１', `${'0'.repeat(300)},0,1,1`],
])('reads nothing from %j', (text) => {
  expect(parseRegion(text)).toBeNull();
});
