import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { project } from './project.ts';

const numbers = (length: number) =>
  fc.array(fc.integer({ min: -99, max: 99 }), { minLength: length, maxLength: length });

describe('project', () => {
  it('gives the sum along each axis, of any number of axes', () => {
    const cases = fc
      .record({ width: fc.integer({ min: 1, max: 9 }), count: fc.integer({ min: 0, max: 9 }) })
      .chain(({ width, count }) => fc.tuple(numbers(width * count), numbers(width), fc.option(numbers(width))));
    fc.assert(
      fc.property(cases, ([axes, vector, mean]) => {
        const width = vector.length;
        const along = Array.from({ length: axes.length / width }, (_, axis) =>
          vector.reduce((sum, number, i) => sum + (axes[axis * width + i] as number) * (number - (mean?.[i] ?? 0)), 0),
        );
        const projected = project(Float32Array.from(axes), vector, mean === null ? undefined : Float32Array.from(mean));
        // Converts minus zero to zero.
        expect([...projected].map((number) => number + 0)).toEqual(along.map((number) => number + 0));
      }),
    );
  });
});
