import { createRandom } from '@akin/domain/random';
import { describe, expect, it } from '@jest/globals';
import { createBits, setBit } from '../bits.ts';
import { HEADER_BYTES, mirrored, POINT_BYTES, type PointSet, readPoints } from './point-format.ts';
import { PointTable } from './point-table.ts';
import { findPart } from './verify.ts';

interface Drawn {
  readonly x: number;
  readonly y: number;
  readonly turn: number;
  readonly level: number;
  readonly bits: Uint32Array;
}

/** Random points of a picture of 400 x 300. */
function drawPoints(seed: number, count = 100): Drawn[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => ({
    x: random(),
    y: random() * 0.75,
    turn: Math.floor(random() * 64),
    level: Math.floor(random() * 6),
    bits: Uint32Array.from({ length: 4 }, () => random() * 2 ** 32),
  }));
}

function write(points: readonly Drawn[], width = 400, height = 300): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + POINT_BYTES * points.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 2);
  view.setUint16(2, width, true);
  view.setUint16(4, height, true);
  for (const [i, { x, y, turn, level, bits }] of points.entries()) {
    const at = HEADER_BYTES + POINT_BYTES * i;
    for (const [word, value] of bits.entries()) view.setUint32(at + 4 * word, value, true);
    view.setUint32(at + 16, Math.floor(x * 2_048) | (Math.floor(y * 2_048) << 11) | (turn << 22) | (level << 28), true);
  }
  return bytes;
}

const read = (points: readonly Drawn[]) => readPoints(write(points)) as PointSet;

/** The same points in a picture that is turned and made smaller, some bits changed. */
function edited(points: readonly Drawn[], turns: number, scale: number, seed: number): Drawn[] {
  const random = createRandom(seed);
  const angle = (turns * 2 * Math.PI) / 64;
  return points.map(({ x, y, turn, level, bits }) => {
    const [u, v] = [x - 0.5, y - 0.375];
    const changed = bits.slice();
    for (let i = 0; i < 10; i++) {
      const bit = Math.floor(random() * 128);
      changed[bit >> 5] = (changed[bit >> 5] as number) ^ (1 << (bit & 31));
    }
    return {
      level: level + Math.round(Math.log(scale) / Math.log(1.2)),
      turn: (turn + turns) % 64,
      bits: changed,
      x: 0.5 + scale * (Math.cos(angle) * u - Math.sin(angle) * v),
      y: 0.375 + scale * (Math.sin(angle) * u + Math.cos(angle) * v),
    };
  });
}

const allRows = (count: number) => {
  const rows = createBits(count);
  for (let row = 0; row < count; row++) setBit(rows, row);
  return rows;
};

describe('points of many pictures', () => {
  const pictures = Array.from({ length: 300 }, (_, seed) => drawPoints(seed));
  const table = new PointTable();
  for (const [row, points] of pictures.entries()) table.set(row, write(points));
  const query = read(edited(pictures[42] as Drawn[], 5, 0.7, 1).slice(0, 40));

  it('finds the picture of which another one shows a turned part', () => {
    expect(table.search(query, allRows(300), 3)[0]?.row).toBe(42);
  });

  it('finds only wanted rows', () => {
    const rows = allRows(300);
    rows[42 >>> 5] = (rows[42 >>> 5] as number) & ~(1 << (42 & 31));
    expect(table.search(query, rows, 300).map(({ row }) => row)).not.toContain(42);
    expect(table.search(query, createBits(300), 300)).toEqual([]);
  });

  it('finds the same after more rows are added, and after others are removed', () => {
    const grown = new PointTable();
    for (const [row, points] of pictures.entries()) {
      if (row % 100 === 50) grown.search(query, allRows(row), 1);
      grown.set(row, write(points));
    }
    expect(grown.search(query, allRows(300), 20)).toEqual(table.search(query, allRows(300), 20));
    const kept = Uint32Array.from({ length: 150 }, (_, i) => 298 - 2 * i);
    expect(table.copyOf(kept).search(query, allRows(150), 1)[0]?.row).toBe(kept.indexOf(42));
  });

  it('finds rows beyond those of a block, also after others are removed', () => {
    const far = new PointTable();
    const rows = [3, 65_535, 65_536, 140_000];
    for (const [i, row] of rows.entries()) far.set(row, write(pictures[i + 40] as Drawn[]));
    expect(far.search(query, allRows(140_001), 1)[0]?.row).toBe(65_536);
    const kept = Uint32Array.from({ length: 65_540 }, (_, row) => (row < 65_537 ? row : 140_000));
    kept.copyWithin(1, 0);
    expect(far.copyOf(kept).search(query, allRows(65_540), 1)[0]?.row).toBe(65_537);
  });

  it('counts only points that are turned alike together, with more rows than it compares by places', () => {
    const [points, random, rows] = [drawPoints(1, 40), createRandom(2), new PointTable()];
    for (let row = 0; row < 400; row++) {
      const place = (turn: number) => ({ x: random(), y: random() * 0.75, turn: (turn + 20 + 24 * random()) & 63 });
      rows.set(row, write(points.map((point) => ({ ...point, ...place(point.turn) }))));
    }
    rows.set(400, write(points.slice(0, 25)));
    expect(rows.search(read(points), allRows(401), 1)[0]?.row).toBe(400);
  });

  it('finds copies of one picture that are more than a search compares', () => {
    const copies = new PointTable();
    for (let row = 0; row < 3_000; row++) copies.set(row, write(pictures[42] as Drawn[]));
    expect(copies.search(read(pictures[42] as Drawn[]), allRows(3_000), 5)).toHaveLength(5);
    expect(copies.bytes).toBeLessThan(PointTable.bytesFor(3_000));
  });

  it('finds all rows of a word with more points than are compared in one call', () => {
    const same = new PointTable();
    const points = new Array<Drawn>(100).fill((pictures[42] as Drawn[])[0] as Drawn);
    for (let row = 0; row < 90; row++) same.set(row, write(points));
    expect(same.search(read(points.slice(0, 1)), allRows(90), 90)).toHaveLength(90);
  });

  it('ignores bytes of another format, and estimates its memory from above', () => {
    const other = new PointTable();
    const points = write(drawPoints(1));
    // The first version had points of 36 bytes: their number may fit by chance.
    for (const bytes of [new Uint8Array(0), new Uint8Array(5), points.subarray(1), points.with(0, 1)]) {
      other.set(1, bytes);
    }
    expect(other.search(query, allRows(300), 20)).toEqual([]);
    expect(table.bytes).toBeLessThan(PointTable.bytesFor(300));
  });
});

describe('two pictures', () => {
  const points = drawPoints(7);
  const picture = read(points);

  it.each([
    [0, 1],
    [20, 0.6],
    [45, 1.4],
  ])('share a part that is turned by %i of 64 and scaled by %d', (turns, scale) => {
    const match = findPart(read(edited(points, turns, scale, 3)), picture);
    const angle = Math.atan2(match?.transform.b ?? 0, match?.transform.a ?? 0);
    expect(match?.strength).toBeGreaterThan(50);
    expect((angle + 2 * Math.PI) % (2 * Math.PI)).toBeCloseTo((turns * 2 * Math.PI) / 64, 1);
    expect(Math.hypot(match?.transform.a ?? 0, match?.transform.b ?? 0)).toBeCloseTo(scale, 1);
  });

  it('share a mirrored part', () => {
    const flipped = mirrored(picture);
    expect(findPart(flipped, picture)).toBeUndefined();
    expect(findPart(mirrored(flipped), picture)?.strength).toBeGreaterThan(100);
  });

  it('share a crop more surely than as many points all over, of which others differ', () => {
    const crop = edited(points, 0, 2, 3).filter(({ x, y }) => x > 0 && x < 1 && y > 0 && y < 0.75);
    const some = [...edited(points, 0, 1, 3).slice(0, crop.length), ...drawPoints(9)];
    const [sure, unsure] = [crop, some].map((query) => findPart(read(query), picture)?.strength ?? 0);
    expect(unsure).toBeGreaterThan(0);
    expect(sure).toBeGreaterThan(1.5 * (unsure as number));
  });

  it('share nothing sure if each point is turned, but not all together', () => {
    const turned = points.map((point) => ({ ...point, turn: (point.turn + 3) % 64 }));
    expect(findPart(read(turned), picture)?.strength).toBe(0);
  });

  it('share nothing if their points differ, are on a line, or are few', () => {
    expect(findPart(read(drawPoints(8, 800)), picture)).toBeUndefined();
    const line = points.map((point) => ({ ...point, y: 0.3 }));
    expect(findPart(read(line), read(line))).toBeUndefined();
    expect(findPart(read(points.slice(0, 2)), picture)).toBeUndefined();
    expect(findPart(read([]), read([]))).toBeUndefined();
  });
});
