import { createRandom } from '@akin/domain';
import { type Rows, row, toRows } from '@akin/modules/internal/learn/rows';
import { describe, expect, it } from '@jest/globals';
import { centerOf, classAxes, discriminantAxes, scatterOf } from './discriminant.ts';
import { covariance, mean, timesTransposed } from './linear.ts';

const WIDTH = 8;
const random = createRandom(5);
const noise = () => random() + random() + random() - 1.5;

/** 40 classes of 20: the classes differ in the last three numbers; within a class, the first two differ far more. */
const classes = Array.from({ length: 40 }, () => {
  const center = Array.from({ length: WIDTH }, (_, i) => (i >= 5 ? noise() : 0));
  return Array.from({ length: 20 }, () => center.map((value, i) => value + (i < 2 ? 8 : 0.1) * noise()));
});
const all = toRows(classes.flat(), WIDTH);
const changes = toRows(
  classes.flatMap((members) => {
    const center = mean(toRows(members, WIDTH));
    return members.map((member) => member.map((value, i) => value - (center[i] as number)));
  }),
  WIDTH,
);

const { covariances: scatter } = scatterOf(all, []);

/** The share of an axis's weight on these numbers. */
function share(axes: Float64Array, axis: number, numbers: readonly number[]): number {
  const weights = Array.from(axes.subarray(axis * WIDTH, (axis + 1) * WIDTH), (value) => value * value);
  const sum = (of: readonly number[]) => of.reduce((total, value) => total + value, 0);
  return sum(numbers.map((i) => weights[i] as number)) / sum(weights);
}

function along({ axes }: { axes: Float64Array }, rows: Rows): Rows {
  const count = axes.length / WIDTH;
  return toRows(
    Array.from({ length: rows.count }, (_, i) => timesTransposed(row(rows, i), axes, WIDTH)),
    count,
  );
}

describe('discriminantAxes', () => {
  it('finds what separates classes, not what differs most', () => {
    const { axes } = discriminantAxes(scatter, changes, 3, 1e-3);
    for (const axis of [0, 1, 2]) expect(share(axes, axis, [5, 6, 7])).toBeGreaterThan(0.95);
  });

  it('scales axes so that differences within are equal along all of them', () => {
    const found = discriminantAxes(scatter, changes, 3, 1e-6);
    const within = covariance(along(found, changes), new Float64Array(3));
    for (const axis of [0, 1, 2]) expect(within[axis * 3 + axis]).toBeCloseTo(1, 2);
  });

  it('gives the principal axes with equal lengths if no pictures belong together', () => {
    const { axes } = discriminantAxes(scatter, toRows([], WIDTH), 3, 1);
    for (const axis of [0, 1]) expect(share(axes, axis, [0, 1])).toBeGreaterThan(0.95);
    const lengths = [0, 1, 2].map((axis) => Math.hypot(...axes.subarray(axis * WIDTH, (axis + 1) * WIDTH)));
    expect(Math.max(...lengths) / Math.min(...lengths)).toBeCloseTo(1, 6);
  });
});

describe('classAxes', () => {
  const members = classes.map((rows) => toRows(rows, WIDTH));

  it('gives more weight to axes that separate classes better', () => {
    const axes = classAxes(scatterOf(all, members).covariances, members, 3, 1e-3);
    for (const axis of [0, 1, 2]) expect(share(axes, axis, [5, 6, 7])).toBeGreaterThan(0.95);
    const within = covariance(along({ axes }, changes), new Float64Array(3));
    const spreads = [0, 4, 8].map((at) => within[at] as number);
    expect(spreads).toEqual([...spreads].sort((a, b) => b - a));
    expect(spreads[0]).toBeGreaterThan(1.5);
  });

  it('gives few pictures less weight', () => {
    const two = toRows((classes[0] ?? []).slice(0, 2), WIDTH);
    const few = classAxes(scatterOf(all, [two]).covariances, [two], 3, 1e-3);
    expect(share(few, 0, [0, 1])).toBeGreaterThan(0.5);
  });

  it('finds where pictures differ most, without classes', () => {
    const axes = classAxes(scatter, [], 3, 1);
    for (const axis of [0, 1]) expect(share(axes, axis, [0, 1])).toBeGreaterThan(0.95);
  });
});

describe('scatterOf', () => {
  const one = Array<number>(WIDTH).fill(3);
  /** Where the mean is between all pictures (0) and those of the classes (1). */
  const way = (classPictures: number) => {
    const { mean: center } = scatterOf(all, [toRows(Array(classPictures).fill(one), WIDTH)]);
    const [from, at] = [mean(all)[0] as number, center[0] as number];
    return (at - from) / (3 - from);
  };

  it('gives pictures of classes as much weight as all others, and less if there are few', () => {
    expect(Array.from(centerOf(all, []))).toEqual(Array.from(mean(all)));
    expect(way(2 * WIDTH)).toBeCloseTo(1 / 2, 4);
    expect(way(50 * WIDTH)).toBeCloseTo(1 / 2, 4);
    expect(way(WIDTH / 2)).toBeCloseTo(1 / 5, 4);
  });

  it('uses differences from the weighted mean of both', () => {
    const { mean: center, covariances } = scatterOf(all, [toRows(Array(WIDTH / 2).fill(one), WIDTH)]);
    const apart = 3 - (center[0] as number);
    expect(covariances[0]).toBeCloseTo((covariance(all, center)[0] as number) + 0.25 * apart ** 2, 4);
  });
});
