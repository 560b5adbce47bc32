import { describe, expect, it } from '@jest/globals';
import { draw } from '../picture/drawing.ts';
import { length } from '../vectors/unit.ts';
import { GRADIENT_DIMENSIONS, gradientsOf } from './gradients.ts';

const stripes = (across: boolean) =>
  draw(128, 128, (x, y) => (Math.floor(16 * (across ? x : y)) % 2 === 0 ? '#202020' : '#E0E0E0'));

describe('gradients', () => {
  it('distinguish vertical from horizontal edges, and both from edges elsewhere', () => {
    const [upright, lying] = [gradientsOf(stripes(true)), gradientsOf(stripes(false))];
    expect(upright.length).toBe(GRADIENT_DIMENSIONS);
    expect(length(upright)).toBeCloseTo(1, 6);
    const both = upright.reduce((sum, value, i) => sum + value * (lying[i] as number), 0);
    expect(both).toBeLessThan(0.05);
    const corner = gradientsOf(draw(128, 128, (x, y) => (x < 0.1 && y < 0.1 ? '#FFFFFF' : '#000000')));
    expect(corner.filter((value) => value > 0.01).length).toBeLessThan(20);
  });

  it('do not depend on contrast, and are zeros for a plain picture', () => {
    const weak = gradientsOf(draw(128, 128, (x) => (Math.floor(16 * x) % 2 === 0 ? '#707070' : '#808080')));
    const strong = gradientsOf(stripes(true));
    expect(Math.max(...weak.map((value, i) => Math.abs(value - (strong[i] as number))))).toBeLessThan(0.02);
    expect(length(gradientsOf(draw(128, 128, () => '#808080')))).toBe(0);
  });
});
