import { AkinError } from '@akin/domain';
import type { Pixels } from '@akin/imaging';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { colorsOf } from '../../test/colors-of.ts';
import { disc, draw, stripes } from '../picture/drawing.ts';
import { colorQuery, parseHexColors } from './query.ts';

const query = (text: string) => colorQuery(parseHexColors(text));
const plain = (hex: string) => draw(64, 48, () => hex);
const distance = (a: Float32Array, b: Float32Array) => Math.hypot(...a.map((value, i) => value - (b[i] as number)));
const norm = (a: Float32Array) => Math.hypot(...a);

/** Indexes of the pictures, nearest first. */
function ranking(text: string, pictures: readonly Pixels[]): number[] {
  const to = query(text);
  const distances = pictures.map((picture) => distance(to, colorsOf(picture).descriptor));
  return distances.map((_, i) => i).sort((a, b) => (distances[a] as number) - (distances[b] as number));
}

describe('parseHexColors', () => {
  it('reads both spellings, several colours, weights and blanks', () => {
    expect(parseHexColors('0xff0000')).toEqual([{ hex: '#FF0000', weight: 1 }]);
    expect(parseHexColors('#00ff7f:2.5, 0X0000ff:1e-2 ,#ABCDEF:.5')).toEqual([
      { hex: '#00FF7F', weight: 2.5 },
      { hex: '#0000FF', weight: 0.01 },
      { hex: '#ABCDEF', weight: 0.5 },
    ]);
  });

  it.each([
    ['', '""'],
    ['red', '"red"'],
    ['#FF0000,', 'colour 2'],
    ['#FF00', '"#FF00"'],
    ['FF0000', '"FF0000"'],
    ['#FF0000,#GG0000', '"#GG0000"'],
    ['#FF0000:', '"#FF0000:"'],
    ['#FF0000:0', '"#FF0000:0"'],
    ['#FF0000:-1', '"#FF0000:-1"'],
    ['#FF0000:1e999', '"#FF0000:1e999"'],
    ['#00FF00,#FF0000:NaN', 'colour 2'],
    ['#FF0000:1:2', '"#FF0000:1:2"'],
    [Array(65).fill('#FF0000').join(), '65 colours'],
  ])('refuses %j and names what is wrong', (text, part) => {
    const attempt = () => parseHexColors(text);
    expect(attempt).toThrow(AkinError);
    expect(attempt).toThrow(part);
    expect(attempt).toThrow(expect.objectContaining({ code: 'bad-request' }));
  });

  it('throws only its own error', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseHexColors(text);
        } catch (error) {
          expect(error).toBeInstanceOf(AkinError);
        }
      }),
    );
  });
});

describe('colorQuery', () => {
  it('is of unit length for any colours and weights', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            hex: fc.integer({ min: 0, max: 0xffffff }).map((rgb) => `#${rgb.toString(16).padStart(6, '0')}`),
            weight: fc.double({ min: 1e-300, max: 1e308, noNaN: true }),
          }),
          { minLength: 1, maxLength: 8 },
        ),
        (colors) => {
          const vector = colorQuery(colors);
          expect(vector).toHaveLength(64);
          expect(norm(vector)).toBeCloseTo(1, 5);
        },
      ),
    );
  });

  it('refuses an empty list', () => {
    expect(() => colorQuery([])).toThrow(AkinError);
  });

  it.each(['#FF0000', '#FFFFFF', '#000000', '#1B2A4E', '#C8AC9D'])(
    'is the descriptor of a picture that is all %s',
    (hex) => {
      expect(distance(query(hex), colorsOf(plain(hex)).descriptor)).toBeLessThan(1e-6);
    },
  );

  it('puts pictures that are mostly of the colour first', () => {
    const withShare = (hex: string, share: number) =>
      draw(96, 96, (x, y) => (x < share ? hex : y < 0.5 ? '#3040A0' : '#50A040'));
    const red = withShare('#E01818', 0.8);
    const halfRed = withShare('#E01818', 0.5);
    const littleRed = withShare('#E01818', 0.1);
    const orange = withShare('#F07818', 0.8);
    const noRed = withShare('#E01818', 0);
    const order = ranking('#FF0000', [noRed, littleRed, orange, halfRed, red]);
    expect(order[0]).toBe(4);
    expect(order.indexOf(3)).toBeLessThan(order.indexOf(1));
    expect(order[4]).toBe(0);
  });

  it('leaves the background of a product out', () => {
    expect(
      ranking('#E01818', [draw(96, 96, (x) => (x < 0.5 ? '#E01818' : '#FFFFFF')), disc('#FFFFFF', '#E01818')]),
    ).toEqual([1, 0]);
  });

  it('follows the weights of several colours', () => {
    const mostlyBlue = draw(90, 90, (x) => (x < 0.3 ? '#F0C020' : '#2050C0'));
    const mostlyYellow = draw(90, 90, (x) => (x < 0.7 ? '#F0C020' : '#2050C0'));
    expect(ranking('#F0C020:1,#2050C0:3', [mostlyYellow, mostlyBlue])).toEqual([1, 0]);
    expect(ranking('#F0C020:3,#2050C0:1', [mostlyBlue, mostlyYellow])).toEqual([1, 0]);
    expect(distance(query('#F0C020:1,#2050C0:1'), query('#2050C0:7,#F0C020:7'))).toBeLessThan(1e-6);
  });

  it('finds near colours nearer than far ones, without a jump', () => {
    const from = query('#C02020');
    const steps = ['#C02424', '#B83030', '#B05040', '#90A040', '#2040C0'].map((hex) => distance(from, query(hex)));
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    expect(steps[0]).toBeLessThan(0.06);
    expect(steps[4]).toBeGreaterThan(1);
  });

  it('sees stripes of two colours as their even mixture', () => {
    expect(distance(query('#204080,#E0C020'), colorsOf(stripes('#204080', '#E0C020', 4)).descriptor)).toBeLessThan(0.1);
  });
});
