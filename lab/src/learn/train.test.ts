import { createRandom, roundToHalves } from '@akin/domain';
import { fitCalibration, NON_MATCHING_SCORES } from '@akin/modules/internal/learn/calibration';
import { row, toRows } from '@akin/modules/internal/learn/rows';
import { readCodebook } from '@akin/modules/internal/vectors/codebook';
import { encodeCodes, nearestCells, rotateResidual } from '@akin/modules/internal/vectors/codes';
import { distance, l2Normalize, length } from '@akin/modules/internal/vectors/unit';
import { describe, expect, it } from '@jest/globals';
import { trainCodebook } from './codebook.ts';
import { kMeans } from './kmeans.ts';
import { covariance, eigen, mainEigen, mean, nearestOrthogonal, timesTransposed } from './linear.ts';
import { refineSignature } from './refine-signature.ts';

const WIDTH = 64;

/** Unit vectors around 20 directions. */
function clustered(count: number) {
  const random = createRandom(7);
  const noise = () => random() + random() + random() - 1.5;
  const directions = Array.from({ length: 20 }, () => Array.from({ length: WIDTH }, noise));
  const vectors = Array.from({ length: count }, (_, i) =>
    roundToHalves(l2Normalize((directions[i % 20] ?? []).map((value) => value + 0.5 * noise()))),
  );
  return toRows(vectors, WIDTH);
}

describe('the arithmetic of training', () => {
  it('finds eigenvalues and vectors', () => {
    const rows = clustered(200);
    const matrix = covariance(rows, mean(rows));
    const { values, vectors } = eigen(matrix, WIDTH);
    for (const at of [0, 5, 63]) {
      const vector = vectors.subarray(at * WIDTH, (at + 1) * WIDTH);
      const image = timesTransposed(matrix, vector, WIDTH);
      expect(
        distance(
          image,
          vector.map((value) => value * (values[at] as number)),
        ),
      ).toBeLessThan(1e-10);
      expect(length(vector)).toBeCloseTo(1, 10);
    }
    expect([...values].every((value, i) => i === 0 || value <= (values[i - 1] as number))).toBe(true);
  });

  it('finds the main eigenvalues of a large matrix as it finds all of them', () => {
    const rows = clustered(200);
    const matrix = covariance(rows, mean(rows));
    const all = eigen(matrix, WIDTH);
    const main = mainEigen(matrix, WIDTH, 30, createRandom(1));
    expect(main.vectors.length).toBe(30 * WIDTH);
    for (const at of [0, 5, 12]) {
      expect((main.values[at] as number) / (all.values[at] as number)).toBeCloseTo(1, 6);
      const one = Array.from(main.vectors.subarray(at * WIDTH, (at + 1) * WIDTH));
      const along = one.reduce((sum, value, i) => sum + value * (all.vectors[at * WIDTH + i] as number), 0);
      expect(Math.abs(along)).toBeCloseTo(1, 4);
    }
  });

  it('finds the nearest orthogonal matrix', () => {
    const random = createRandom(3);
    const nearest = nearestOrthogonal(
      Float64Array.from({ length: 25 }, () => random() - 0.5),
      5,
    );
    const product = timesTransposed(nearest, nearest, 5);
    for (let i = 0; i < 25; i++) expect(product[i]).toBeCloseTo(i % 6 === 0 ? 1 : 0, 8);
    expect(distance(nearestOrthogonal(nearest, 5), nearest)).toBeLessThan(1e-8);
  });

  it('finds clusters that are there', () => {
    const { nearest } = kMeans(clustered(400), 20, 50, createRandom(1));
    const labels = new Map(Array.from(nearest, (center, i) => [center, i % 20]));
    const right = nearest.filter((center, i) => labels.get(center) === i % 20).length;
    expect(right / 400).toBeGreaterThan(0.8);
  });

  it('copes with fewer rows than clusters', () => {
    const { nearest } = kMeans(clustered(3), 8, 10, createRandom(1));
    expect(new Set(nearest).size).toBe(3);
  });
});

describe('the refinement of signatures', () => {
  it('gives neighbours more equal bits than random hyperplanes do', () => {
    const rows = clustered(1000);
    const random = createRandom(5);
    const planes = Float64Array.from({ length: 16 * WIDTH }, () => random() - 0.5);
    const offsets = new Float64Array(16);
    const recall = () => {
      const bits = Array.from({ length: rows.count }, (_, i) =>
        timesTransposed(planes, row(rows, i), WIDTH).reduce(
          (all, value, bit) => (value > (offsets[bit] as number) ? all | (1 << bit) : all),
          0,
        ),
      );
      const ones = Uint8Array.from({ length: 1 << 16 }, (_, all) => all.toString(2).replaceAll('0', '').length);
      let found = 0;
      for (let i = 0; i < 60; i++) {
        const far = bits.map((other) => ones[other ^ (bits[i] as number)] as number);
        const others = Array.from({ length: rows.count }, (_, j) => j).filter((j) => j !== i);
        const near = others.sort((a, b) => (far[a] as number) - (far[b] as number)).slice(0, 49);
        found += near.filter((j) => j % 20 === i % 20).length;
      }
      return found / (60 * 49);
    };
    const before = recall();
    refineSignature(rows, planes, offsets, random, 40);
    expect(recall()).toBeGreaterThan(before + 0.1);
  });

  it('does not change the signature of a few vectors', () => {
    const planes = Float64Array.from({ length: WIDTH }, () => 0.5);
    refineSignature(clustered(200), planes, new Float64Array(1), createRandom(1));
    expect(planes.every((value) => value === 0.5)).toBe(true);
  });
});

describe('the calibration', () => {
  it('is based on the distances of random pairs, and is monotonic', () => {
    const rows = clustered(500);
    const points = fitCalibration(rows, { usual: 0.2, rare: 0.6, near: 0.8, nearAt: 0.4 });
    expect(points.map(([, score]) => score)).toEqual([1, 0.8, 0.6, 0.2, 0]);
    const [, near = [0], rare = [0], usual = [0]] = points;
    let below = 0;
    let rarely = 0;
    for (let i = 0; i < 500; i++) {
      for (let j = 0; j < i; j++) {
        const apart = distance(
          rows.values.subarray(i * WIDTH, (i + 1) * WIDTH),
          rows.values.subarray(j * WIDTH, (j + 1) * WIDTH),
        );
        if (apart < usual[0]) below++;
        if (apart < rare[0]) rarely++;
      }
    }
    expect(below / ((500 * 499) / 2)).toBeCloseTo(0.5, 2);
    expect(rarely / ((500 * 499) / 2)).toBeCloseTo(0.01, 2);
    expect(near[0]).toBeCloseTo(0.4 * rare[0], 3);
  });

  it('keeps its points in order when all pictures are the same', () => {
    const same = toRows(
      Array.from({ length: 9 }, () => l2Normalize([1, 2, 3])),
      3,
    );
    const distances = fitCalibration(same, NON_MATCHING_SCORES).map(([apart]) => apart);
    expect(distances).toEqual([...new Set(distances)].sort((a, b) => a - b));
  });
});

describe('a codebook trained on a few vectors', () => {
  const vectors = clustered(800);
  const bytes = trainCodebook({ module: 'color', model: 'm-1', vectors, seed: 1 });
  const codebook = readCodebook(bytes, WIDTH, 'test');
  const vector = (i: number) => vectors.values.subarray(i * WIDTH, (i + 1) * WIDTH);

  it('is deterministic', () => {
    expect(trainCodebook({ module: 'color', model: 'm-1', vectors, seed: 1 })).toEqual(bytes);
  });

  it('is refused when a number in it changed', () => {
    const changed = bytes.slice();
    changed[changed.length - 1] = 255 - (changed.at(-1) ?? 0);
    expect(() => readCodebook(changed, WIDTH, 'test')).toThrow('test is damaged');
  });

  it('has rotations that keep lengths', () => {
    for (const i of [0, 100, 333]) {
      const cell = nearestCells(codebook, vector(i))[0] as number;
      const center = codebook.cells.subarray(cell * WIDTH, (cell + 1) * WIDTH);
      expect(length(rotateResidual(codebook, vector(i), cell)) / distance(vector(i), center)).toBeCloseTo(1, 2);
    }
  });

  it('names as cluster the cell that is first among the nearest', () => {
    const { cluster, nclusters } = encodeCodes(codebook, vector(5));
    const cells = Buffer.from(nclusters, 'base64');
    expect(cells.length).toBe(32);
    expect(cells.readUInt16LE(0)).toBe(cluster);
    expect([...nearestCells(codebook, vector(5)).subarray(0, 16)]).toEqual(
      Array.from({ length: 16 }, (_, i) => cells.readUInt16LE(i * 2)),
    );
  });

  it('orders cells by the distance of their centroids, all and the first few alike', () => {
    const { cellCount, cells } = codebook;
    for (const i of [5, 77]) {
      const far = Array.from({ length: cellCount }, (_, cell) =>
        distance(vector(i), cells.subarray(cell * WIDTH, (cell + 1) * WIDTH)),
      );
      const order = [...far.keys()].sort((a, b) => (far[a] as number) - (far[b] as number));
      expect([...nearestCells(codebook, vector(i))]).toEqual(order);
      for (const most of [0, 1, 7]) expect([...nearestCells(codebook, vector(i), most)]).toEqual(order.slice(0, most));
    }
  });

  it('decodes a vector from its code more exactly than from its cell', () => {
    let fine = 0;
    let coarse = 0;
    for (let i = 0; i < 200; i++) {
      const { cluster, lopq } = encodeCodes(codebook, vector(i));
      const turned = rotateResidual(codebook, vector(i), cluster);
      const words = Buffer.from(lopq, 'base64').subarray(5);
      const decoded = Array.from(words, (word, subspace) => {
        const from = (subspace * 256 + word) * 8;
        return [...codebook.quantizers.subarray(from, from + 8)];
      }).flat();
      fine += distance(turned, decoded);
      coarse += length(turned);
    }
    expect(fine).toBeLessThan(0.6 * coarse);
  });

  it('has signatures whose Hamming distance follows the distance', () => {
    const bits = (i: number) => encodeCodes(codebook, vector(i)).rerank;
    const differing = (a: bigint, b: bigint) =>
      BigInt.asUintN(64, a ^ b)
        .toString(2)
        .replaceAll('0', '').length;
    let same = 0;
    let other = 0;
    for (let i = 0; i < 100; i++) {
      same += differing(bits(i), bits(i + 20));
      other += differing(bits(i), bits(i + 7));
    }
    expect(same).toBeLessThan(0.6 * other);
    expect(bits(0)).toBeGreaterThanOrEqual(-(2n ** 63n));
    expect(bits(0)).toBeLessThan(2n ** 63n);
  });
});
