import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { COLOR_NAMES, nameOfColor, namesOfPalette } from './names.ts';

const BASIC = ['black', 'white', 'gray', 'red', 'green', 'blue', 'yellow', 'orange', 'brown', 'pink', 'purple'];

describe('colour names', () => {
  it('hold the eleven basic terms and each word once', () => {
    const names = COLOR_NAMES.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(BASIC));
    expect(new Set(names).size).toBe(names.length);
  });

  it('are documented with an example', async () => {
    const page = await readFile(new URL('../../../../docs/colors.md', import.meta.url), 'utf8');
    for (const { name, hexes } of COLOR_NAMES) {
      expect(page).toContain(`| ${name} | \`${hexes[0]}\` |`);
    }
  });

  it('give every prototype its own name', () => {
    for (const { name, hexes } of COLOR_NAMES) {
      for (const hex of hexes) expect([hex, nameOfColor(hex)]).toEqual([hex, name]);
    }
  });

  it.each([
    ['#FE0505', 'red'],
    ['#111111', 'black'],
    ['#FDFDFD', 'white'],
    ['#777777', 'gray'],
    ['#0B7A1F', 'green'],
    ['#2255DD', 'blue'],
    ['#F8E71C', 'yellow'],
    ['#F58220', 'orange'],
    ['#654321', 'brown'],
    ['#FFB6C1', 'pink'],
    ['#6A0DAD', 'purple'],
    ['#14213D', 'navy'],
    ['#F5F5DC', 'cream'],
    ['#7B1113', 'maroon'],
    ['#008B8B', 'teal'],
    ['#39D5C5', 'turquoise'],
    ['#BFC1C2', 'silver'],
    ['#E3D5B8', 'beige'],
    ['#87CEFA', 'sky blue'],
    ['#20206E', 'navy'],
    ['#00FF7F', 'green'],
    ['#8B3D5B', 'pink'],
    ['#8190A7', 'blue'],
    ['#708090', 'gray'],
    ['#B22222', 'red'],
    ['#7A1F33', 'maroon'],
    ['#CBD09A', 'green'],
    ['#2A2A2A', 'black'],
    ['#242A32', 'black'],
    ['#303030', 'gray'],
    ['#D8E5F5', 'sky blue'],
    ['#514B3B', 'brown'],
    ['#786450', 'brown'],
    ['#B27868', 'brown'],
    ['#A58C82', 'tan'],
    ['#AC9A88', 'tan'],
    ['#467840', 'green'],
    ['#4A4A4A', 'gray'],
    ['#8E918A', 'gray'],
    ['#DADADE', 'silver'],
    ['#E6CE80', 'khaki'],
    ['#E1D9AA', 'beige'],
    ['#8E7863', 'brown'],
    ['#384425', 'green'],
    ['#282522', 'black'],
    ['#D0D031', 'yellow'],
    ['#8E4585', 'purple'],
  ])('call %s %s', (hex, name) => {
    expect(nameOfColor(hex)).toBe(name);
  });

  it('call a white object white, even in shade', () => {
    expect(namesOfPalette(['#C03030', '#D2D0CE'], [0.6, 0.4])).toEqual(['red', 'silver', 'white']);
    expect(namesOfPalette(['#C03030', '#FDFDFD', '#D2D0CE'], [0.5, 0.3, 0.2])).toEqual(['red', 'white', 'silver']);
    // The share is too small, the colour too dark or too vivid, or there is no other colour to compare it with.
    expect(namesOfPalette(['#C03030', '#D2D0CE'], [0.96, 0.04])).toEqual(['red', 'silver']);
    expect(namesOfPalette(['#C03030', '#B2B2B2'], [0.6, 0.4])).toEqual(['red', 'silver']);
    expect(namesOfPalette(['#C03030', '#CAD8EC'], [0.6, 0.4])).not.toContain('white');
    expect(namesOfPalette(['#D2D0CE'], [1])).toEqual(['silver']);
  });
});
