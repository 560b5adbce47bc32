import { describe, expect, it } from '@jest/globals';
import { row, toRows } from '../learn/linear.ts';
import { distance, length } from '../vectors/unit.ts';
import { type Axes, readAxes, trainAxes, unitOf } from './axes.ts';

describe('the axes of a model with more numbers than a descriptor', () => {
  it('keep the directions in which pictures differ', () => {
    const rows = { count: 300, width: 600, values: new Float32Array(300 * 600) };
    for (let i = 0; i < rows.count; i++) {
      for (let k = 0; k < 4; k++) rows.values[i * rows.width + 100 * k] = Math.sin(1 + i * (k + 1)) * (4 - k);
      rows.values.set(unitOf(rows.values.slice(i * rows.width, (i + 1) * rows.width)), i * rows.width);
    }
    const axes = readAxes(trainAxes(rows, 8), 8, 'axes');
    const row = (i: number) => rows.values.slice(i * rows.width, (i + 1) * rows.width);
    const [a, b] = [axes.describe(row(3)), axes.describe(row(4))];
    expect([a.length, length(a)]).toEqual([8, expect.closeTo(1, 5)]);
    const cosine = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * (y[i] as number), 0);
    expect(cosine(a, b)).toBeCloseTo(cosine(row(3), row(4)), 1);
    expect(() => axes.describe(new Float32Array(3))).toThrow('gives 3 numbers');
    expect(() => readAxes(trainAxes(rows, 8), 256, 'axes')).toThrow('does not belong to descriptors of 256 numbers');
  });

  it('give weak activations weight next to strong ones', () => {
    // 40 classes differ slightly in one number each; all pictures differ strongly in two numbers unrelated to the
    // classes.
    const numbers = (kind: number, i: number) => {
      const all = new Float32Array(600);
      all[0] = 1 + Math.sin(3 + 7 * kind + 5 * i);
      all[1] = 1 + Math.cos(1 + 11 * kind + 3 * i);
      all[100 + kind] = 0.4;
      return unitOf(all);
    };
    const kinds = Array.from({ length: 40 }, (_, kind) => kind);
    const rows = (sign: 1 | -1) =>
      toRows(
        kinds.flatMap((kind) => [0, 1, 2, 3].map((i) => numbers(kind, i).map((value) => sign * value))),
        600,
      );
    /** For how many classes a picture of the same class is nearer than all others. */
    const found = (sign: 1 | -1) => {
      const axes = readAxes(trainAxes(rows(sign), 64), 64, 'axes');
      const at = (i: number) => kinds.map((kind) => axes.describe(numbers(kind, i).map((value) => sign * value)));
      const [some, others] = [at(8), at(9)];
      return some.filter((one, kind) => {
        const own = distance(one, others[kind] as Float32Array);
        return others.every((other, another) => another === kind || distance(one, other) > own);
      }).length;
    };
    expect(found(1)).toBe(40);
    // The same with negative numbers, as embeddings have them; these get no square roots.
    expect(found(-1)).toBeLessThan(20);
  });

  it('keep what separates classes, and reduce differences within a class', () => {
    // 40 classes of 10 pictures: the classes differ in numbers 0 and 100, pictures of one class differ more in number
    // 200.
    const numbers = (kind: number, i: number) => {
      const all = new Float32Array(600).fill(0.3);
      all[0] = Math.sin(1 + 7 * kind);
      all[100] = Math.cos(3 + 5 * kind * kind);
      all[200] = Math.sin(2 + 11 * kind + 3 * i);
      all[300 + i] = 0.1;
      return unitOf(all);
    };
    const tens = Array.from({ length: 10 }, (_, i) => i);
    const kinds = Array.from({ length: 40 }, (_, kind) =>
      toRows(
        tens.map((i) => numbers(kind, i)),
        600,
      ),
    );
    // The other pictures do not differ in the numbers that separate the classes.
    const others = Array.from({ length: 100 }, (_, i) =>
      unitOf(Float32Array.from({ length: 600 }, (_, k) => 0.3 + (k >= 400 && k < 440 ? 0.3 * Math.sin(i * k) : 0))),
    );
    const all = toRows(others, 600);
    const cosine = (axes: Axes, a: Float32Array, b: Float32Array) =>
      axes.describe(a).reduce((sum, value, i) => sum + value * (axes.describe(b)[i] as number), 0);
    const principal = readAxes(trainAxes(all, 8), 8, 'axes');
    const learned = readAxes(trainAxes(all, 8, kinds), 8, 'axes');
    /** How many of ten pictures of the class rank before the nine others. */
    const found = (axes: Axes) =>
      tens.filter((kind) => {
        const to = (other: number) => cosine(axes, numbers(kind, 1), numbers(other, 4));
        return tens.every((other) => other === kind || to(other) < to(kind));
      }).length;
    expect(found(principal)).toBeLessThan(8);
    expect(found(learned)).toBe(10);
  });

  it('separate pictures even if those of a class are all the same', () => {
    const rows = toRows(
      Array.from({ length: 50 }, (_, i) => unitOf(Float32Array.of(Math.sin(i), Math.cos(3 * i), 1))),
      3,
    );
    const same = toRows([row(rows, 1), row(rows, 1), row(rows, 1)], 3);
    const axes = readAxes(trainAxes(rows, 8, [same]), 8, 'axes');
    expect(distance(axes.describe(row(rows, 2)), axes.describe(row(rows, 3)))).toBeGreaterThan(0.1);
  });
});
