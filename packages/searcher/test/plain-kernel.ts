import { popCount } from '../src/bits.ts';
import type { Kernel } from '../src/kernel.ts';

/** The kernel in plain TypeScript. Tests compare the WebAssembly kernel with it. */
export function createPlainKernel(memory: WebAssembly.Memory): Kernel {
  const bytes = new Uint8Array(memory.buffer);
  const view = new DataView(memory.buffer);
  const isIn = (maskAt: number, row: number) =>
    ((view.getUint32(maskAt + (row >>> 5) * 4, true) >>> (row & 31)) & 1) === 1;
  const byte = (at: number) => bytes[at] as number;
  return {
    nearSigns(codesAt, bytesOfRow, rows, maskAt, tablesAt, max, outAt) {
      let count = 0;
      for (let row = 0; row < rows; row++) {
        if (!isIn(maskAt, row)) continue;
        const at = codesAt + (row & ~15) * bytesOfRow + (row & 15);
        let sum = 0;
        for (let i = 0; i < bytesOfRow; i++) {
          const signs = byte(at + 16 * i);
          sum += byte(tablesAt + 32 * i + (signs & 15)) + byte(tablesAt + 32 * i + 16 + (signs >>> 4));
        }
        if (sum <= max) view.setUint32(outAt + 4 * count++, (sum << 13) | row, true);
      }
      return count;
    },
    levelDots(levelsAt, stride, _factorsAt, rowsAt, count, queryAt, outAt) {
      for (let i = 0; i < count; i++) {
        const at = levelsAt + view.getUint32(rowsAt + 4 * i, true) * stride;
        let sum = 0;
        for (let j = 0; j < stride; j++) {
          const both = byte(at + j);
          // Each 16 bytes hold 32 numbers; the low half-bytes hold the first 16.
          const number = (j & ~15) * 2 + (j & 15);
          sum += (both & 15) * view.getInt16(queryAt + 2 * number, true);
          sum += (both >>> 4) * view.getInt16(queryAt + 2 * (number + 16), true);
        }
        view.setInt32(outAt + 4 * i, sum, true);
      }
    },
    squares(vectorsAt, stride, rows, maskAt, queryAt, outAt) {
      const numbers = new Float32Array(memory.buffer);
      const query = queryAt / 4;
      const sums = new Float32Array(4);
      for (let row = 0; row < rows; row++) {
        if (!isIn(maskAt, row)) continue;
        const at = (vectorsAt + row * stride) / 4;
        sums.fill(0);
        for (let i = 0; i < stride / 4; i++) {
          const difference = Math.fround((numbers[at + i] as number) - (numbers[query + i] as number));
          sums[i & 3] = (sums[i & 3] as number) + Math.fround(difference * difference);
        }
        const [a = 0, b = 0, c = 0, d = 0] = sums;
        view.setFloat32(outAt + 4 * row, Math.fround(a + b) + Math.fround(c + d), true);
      }
    },
    rotate(at, signsAt, length) {
      const numbers = new Float32Array(memory.buffer, at, length);
      const signs = new Float32Array(memory.buffer, signsAt, length);
      for (let i = 0; i < length; i++) numbers[i] = (numbers[i] as number) * (signs[i] as number);
      for (let half = 1; half < length; half *= 2) {
        for (let block = 0; block < length; block += 2 * half) {
          for (let i = block; i < block + half; i++) {
            const [a, b] = [numbers[i] as number, numbers[i + half] as number];
            numbers[i] = a + b;
            numbers[i + half] = a - b;
          }
        }
      }
    },
    signBits(at, count, outAt) {
      const number = (i: number) => view.getFloat32(at + 4 * i, true);
      // Add alternate numbers separately, as the WebAssembly kernel does, to get equal rounding.
      const squares: [number, number] = [0, 0];
      const sums: [number, number] = [0, 0];
      for (let i = 0; i < count; i += 8) {
        let bits = 0;
        for (let k = 0; k < 8; k++) if (number(i + k) > 0) bits |= 1 << k;
        view.setUint8(outAt + i / 8, bits);
        for (const lane of [0, 1] as const) {
          const pair = (f: (a: number, b: number) => number) =>
            f(number(i + lane), number(i + lane + 4)) + f(number(i + lane + 2), number(i + lane + 6));
          sums[lane] += pair((a, b) => Math.fround(Math.abs(a) + Math.abs(b)));
          squares[lane] += pair((a, b) => Math.fround(Math.fround(a * a) + Math.fround(b * b)));
        }
      }
      const length = Math.sqrt(squares[0] + squares[1]);
      return length === 0 ? 0 : (sums[0] + sums[1]) / length;
    },
    encodeLevels(at, count, step, outAt, factorsAt) {
      const whole = Math.ceil(count / 32) * 32;
      const number = (i: number) => view.getFloat32(at + 4 * i, true);
      const squares: [number, number] = [0, 0];
      for (let i = 0; i < whole; i++) squares[(i & 1) as 0 | 1] += number(i) * number(i);
      const square = squares[0] + squares[1];
      if (square === 0) return;
      const scale = Math.fround(1 / (step * Math.sqrt(square / count)));
      let levelSquare = count - whole;
      const products: [number, number] = [0, 0];
      for (let i = 0; i < whole; i++) {
        const level = Math.max(-8, Math.min(7, Math.floor(Math.fround(number(i) * scale)))) + 8;
        const odd = 2 * level - 15;
        levelSquare += odd * odd;
        products[(i & 1) as 0 | 1] += odd * number(i);
        const out = outAt + (i >> 5) * 16 + (i & 15);
        view.setUint8(out, i & 16 ? byte(out) | (level << 4) : level);
      }
      const product = products[0] + products[1];
      view.setFloat32(factorsAt, product / levelSquare, true);
      view.setFloat32(factorsAt + 4, product / Math.sqrt(levelSquare), true);
      view.setFloat32(factorsAt + 8, Math.sqrt(Math.max(0, square - (product * product) / levelSquare)), true);
    },
    nearCodes(codesAt, bytesOfCode, count, queryAt, most, outAt) {
      let found = 0;
      for (let i = 0; i < count; i++) {
        let differences = 0;
        for (let j = 0; j < bytesOfCode; j += 4) {
          const code = view.getUint32(codesAt + i * bytesOfCode + j, true);
          differences += popCount(code ^ view.getUint32(queryAt + j, true));
        }
        if (differences <= most) view.setUint32(outAt + 4 * found++, ((i << 9) | differences) >>> 0, true);
      }
      return found;
    },
    nearestCodes(codesAt, count, queryAt, wanted, outAt) {
      const keys = Array.from({ length: count }, (_, i) => {
        let differences = 0;
        for (let j = 0; j < 8; j += 4) {
          differences += popCount(view.getUint32(codesAt + 8 * i + j, true) ^ view.getUint32(queryAt + j, true));
        }
        return (differences << 8) | i;
      });
      keys.sort((a, b) => a - b);
      for (let i = 0; i < wanted; i++) view.setUint32(outAt + 4 * i, keys[i] ?? 0xffff_ffff, true);
    },
  };
}
