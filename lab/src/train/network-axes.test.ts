import { createRandom } from '@akin/domain';
import { row } from '@akin/modules/internal/learn/rows';
import { distance } from '@akin/modules/internal/vectors/unit';
import { describe, expect, it } from '@jest/globals';
import { classAxes, scatterOf } from '../learn/discriminant.ts';
import { timesTransposed } from '../learn/linear.ts';
import { contentAxes, SHRINKAGE, whitenedFeatures } from './network-axes.ts';

const SIZES = { head: 5, pool: 9, poolAxes: 7, axes: 6 };
const WIDTH = SIZES.head + SIZES.pool;

const random = createRandom(3);
const noise = () => random() + random() + random() - 1.5;
/** Pictures of one class: they differ most in number 1 of the head and number 2 of the channels. */
const ofKind = (kind: Float64Array) => kind.map((value, i) => value + (i === 1 || i === 7 ? 2 : 0.1) * noise());
const kind = () => Float64Array.from({ length: WIDTH }, () => 0.5 + noise());
const pictures = Array.from({ length: 300 }, () => ofKind(kind()));
const classes = Array.from({ length: 40 }, kind).map((one) => Array.from({ length: 8 }, () => ofKind(one)));

describe('contentAxes', () => {
  const found = contentAxes(pictures, classes, createRandom(1), SIZES);
  const along = (seen: ArrayLike<number>) => timesTransposed(seen, found.axes, WIDTH);

  it('gives the same as whitening first, except for a constant', () => {
    const whitened = whitenedFeatures(pictures, classes, createRandom(1), SIZES);
    const axes = classAxes(
      scatterOf(whitened.pictures, whitened.classes).covariances,
      whitened.classes,
      SIZES.axes,
      SHRINKAGE,
    );
    const inTwoSteps = (i: number) => timesTransposed(row(whitened.pictures, i), axes, SIZES.head + SIZES.poolAxes);
    const constant = along(pictures[0] as Float64Array).map((value, k) => value - (inTwoSteps(0)[k] as number));
    expect(Math.hypot(...constant)).toBeGreaterThan(0.1);
    for (const [i, seen] of pictures.entries()) {
      const expected = inTwoSteps(i).map((value, k) => value + (constant[k] as number));
      expect(distance(along(seen), expected)).toBeLessThan(1e-5);
    }
  });

  it('weights the channels relative to the head', () => {
    const whitened = whitenedFeatures(pictures, [], createRandom(1), SIZES);
    const squares = pictures.map((_, i) => Math.hypot(...row(whitened.pictures, i).subarray(SIZES.head)) ** 2);
    expect(squares.reduce((sum, value) => sum + value) / pictures.length).toBeCloseTo(0.49, 5);
  });

  it('moves pictures of a class nearer to each other', () => {
    const share = (of: (seen: Float64Array) => ArrayLike<number>) => {
      const apart = (a: number, b: number) =>
        distance(of(classes[a]?.[0] as Float64Array), of(classes[b]?.[1] as Float64Array));
      const within = classes.map((_, i) => apart(i, i));
      const between = classes.map((_, i) => apart(i, (i + 1) % classes.length));
      const sum = (values: number[]) => values.reduce((all, value) => all + value);
      return sum(within) / sum(between);
    };
    expect(share(along)).toBeLessThan(0.8 * share((seen) => seen));
    const { axes } = contentAxes(pictures, [], createRandom(1), SIZES);
    expect(share(along)).toBeLessThan(0.8 * share((seen) => timesTransposed(seen, axes, WIDTH)));
  });

  it('refuses pictures that all look the same, but for rounding', () => {
    const [first = new Float64Array()] = pictures;
    const same = Array.from({ length: 30 }, (_, i) => first.map((value) => value + 1e-7 * Math.sin(i)));
    for (const all of [same, same.map(() => first)]) {
      expect(() => contentAxes(all, classes, createRandom(1), SIZES)).toThrow('look the same to the network');
    }
  });
});
