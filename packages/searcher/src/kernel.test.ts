import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRandom } from '@akin/domain/random';
import { expect, it } from '@jest/globals';
import { createPlainKernel } from '../test/plain-kernel.ts';
import { createKernel, createMemory, type Kernel } from './kernel.ts';
import { KERNEL_SOURCE } from './kernel-bytes.ts';

it('matches its source', () => {
  const source = readFileSync(new URL('../kernel/kernel.ts', import.meta.url));
  expect(createHash('sha256').update(source).digest('hex')).toBe(KERNEL_SOURCE);
});

const BYTES = 65_536;
const [MASK, QUERY, OUT] = [32_768, 36_864, 53_248];

/** Runs both kernels on the same memory and returns both results. */
function both(fill: (bytes: Uint8Array) => void, run: (kernel: Kernel) => void): [Uint8Array, Uint8Array] {
  const [first = new Uint8Array(), second = new Uint8Array()] = [createKernel, createPlainKernel].map((create) => {
    const memory = createMemory(BYTES);
    fill(new Uint8Array(memory.buffer));
    run(create(memory));
    return new Uint8Array(memory.buffer);
  });
  return [first, second];
}

it.each([
  [16, 32],
  [32, 32],
  [32, 64],
  [48, 128],
  [96, 96],
])('gives the same numbers as its twin, for rows of %i bytes', (size, rows) => {
  const random = createRandom(size * 1_000 + rows);
  const noise = (bytes: Uint8Array) => {
    for (let i = 0; i < OUT; i++) bytes[i] = random() * 256;
    // Small enough that sums of four signs do not overflow.
    for (let i = QUERY; i < QUERY + 32 * size; i++) bytes[i] = (bytes[i] as number) >> 2;
  };
  const bytes = new Uint8Array(BYTES);
  noise(bytes);
  const fill = (target: Uint8Array) => target.set(bytes);
  for (const most of [0, 60 * size, 64 * size, 65_535]) {
    const counts: number[] = [];
    const [near = new Uint8Array(), plainNear = new Uint8Array()] = both(fill, (kernel) => {
      counts.push(kernel.nearSigns(0, size, rows, MASK, QUERY, most, OUT));
    }).map((memory) => memory.slice(OUT, OUT + 4 * (counts[0] as number)));
    expect(near).toEqual(plainNear);
    expect(counts[0]).toBe(counts[1]);
  }
  // The first rows, in reverse order.
  const positions = Uint32Array.from({ length: rows }, (_, i) => rows - 1 - i);
  bytes.set(new Uint8Array(positions.buffer), MASK);
  const [levels, plainLevels] = both(fill, (kernel) => kernel.levelDots(0, size, 0, MASK, rows, QUERY, OUT));
  expect(levels).toEqual(plainLevels);
});

it.each([4, 16])('finds the same codes of %i bytes as its twin', (size) => {
  const random = createRandom(size);
  const codes = Uint8Array.from({ length: 200 * size + size }, () => random() * 256);
  const fill = (bytes: Uint8Array) => bytes.set(codes, MASK - 200 * size);
  for (const most of [0, 3.5 * size, 4 * size, 8 * size]) {
    const counts: number[] = [];
    const [found, plainFound] = both(fill, (kernel) => {
      counts.push(kernel.nearCodes(MASK - 200 * size, size, 200, MASK, most, QUERY));
    });
    expect(counts[0]).toBe(counts[1]);
    const end = QUERY + 4 * (counts[0] as number);
    expect(found.slice(QUERY, end)).toEqual(plainFound.slice(QUERY, end));
  }
});

it.each([1, 8])('finds the same %i nearest codes as its twin', (wanted) => {
  const random = createRandom(wanted);
  const codes = Uint8Array.from({ length: 257 * 8 }, () => random() * 256);
  const fill = (bytes: Uint8Array) => bytes.set(codes);
  const [found, plainFound] = both(fill, (kernel) => kernel.nearestCodes(0, 256, 256 * 8, wanted, OUT));
  expect(found.slice(OUT, OUT + 4 * wanted)).toEqual(plainFound.slice(OUT, OUT + 4 * wanted));
});

it('gives the same squares and transforms as the plain kernel', () => {
  const random = createRandom(5);
  const numbers = Float32Array.from({ length: OUT / 4 }, () => random() * 4 - 2);
  const fill = (bytes: Uint8Array) => {
    bytes.set(new Uint8Array(numbers.buffer));
    for (let i = MASK; i < QUERY; i++) bytes[i] = i * 37;
  };
  const [squares, plainSquares] = both(fill, (kernel) => kernel.squares(0, 48, 200, MASK, QUERY, OUT));
  expect(new Float32Array(squares.buffer, OUT, 200)).toEqual(new Float32Array(plainSquares.buffer, OUT, 200));
  for (const length of [4, 8, 64, 256]) {
    const [rotated, plainRotated] = both(fill, (kernel) => kernel.rotate(0, 16_384, length));
    expect(rotated).toEqual(plainRotated);
  }
  const ratios: number[] = [];
  const [signs, plainSigns] = both(fill, (kernel) => ratios.push(kernel.signBits(16, 200, OUT)));
  expect(signs).toEqual(plainSigns);
  expect(ratios[0]).toBe(ratios[1]);
  for (const [at, count] of [
    [0, 200],
    [16, 7],
    [OUT, 64],
  ] as const) {
    const padded = (bytes: Uint8Array) => {
      fill(bytes);
      bytes.fill(0, at + 4 * count, at + 128 * Math.ceil(count / 32));
    };
    const [levels, plainLevels] = both(padded, (kernel) => {
      kernel.encodeLevels(at, count, 0.3352, OUT + 1_024, OUT + 2_048);
    });
    expect(levels).toEqual(plainLevels);
  }
});
