import type { Kernel } from '../src/parts/kernel.ts';

const BORDER = 19;
const RADIUS = 15;
/** Offsets of a circle of 16 pixels: x, y. */
const CIRCLE = [
  ...[[0, -3] as const, [1, -3] as const, [2, -2] as const, [3, -1] as const, [3, 0] as const, [3, 1] as const],
  ...[[2, 2] as const, [1, 3] as const, [0, 3] as const, [-1, 3] as const, [-2, 2] as const, [-3, 1] as const],
  ...[[-3, 0] as const, [-3, -1] as const, [-2, -2] as const, [-1, -3] as const],
];

/** The kernel in plain TypeScript, with which tests compare the one in WebAssembly. */
export function createPlainKernel(memory: WebAssembly.Memory): Kernel {
  const bytes = new Uint8Array(memory.buffer);
  const view = new DataView(memory.buffer);
  const byte = (at: number) => bytes[at] as number;
  return {
    resize(from, width, height, to, newWidth, newHeight) {
      const place = (target: number, factor: number, size: number) =>
        Math.trunc(Math.max(0, Math.min(size - 1, (target + 0.5) * factor - 0.5)) * 128);
      for (let y = 0; y < newHeight; y++) {
        const row = place(y, height / newHeight, height);
        const first = from + (row >> 7) * width;
        const second = (row >> 7) + 1 < height ? first + width : first;
        const mixed = (x: number) => byte(first + x) * (128 - (row & 127)) + byte(second + x) * (row & 127);
        for (let x = 0; x < newWidth; x++) {
          const column = place(x, width / newWidth, width);
          const right = Math.min(width - 1, (column >> 7) + 1);
          const sum = mixed(column >> 7) * (128 - (column & 127)) + mixed(right) * (column & 127);
          bytes[to + y * newWidth + x] = sum >> 14;
        }
      }
    },
    blur(from, width, height, to) {
      for (let y = 2; y < height - 2; y++) {
        for (let x = 2; x < width - 2; x++) {
          let sum = 0;
          for (let v = -2; v <= 2; v++) {
            for (let u = -2; u <= 2; u++) sum += byte(from + (y + v) * width + x + u);
          }
          bytes[to + y * width + x] = (sum * 2622) >> 16;
        }
      }
    },
    corners(at, width, height, step, _scoresAt, _foundAt, outAt) {
      const scores = new Int32Array(width * height).fill(-1);
      for (let y = BORDER; y < height - BORDER; y++) {
        for (let x = BORDER; x < width - BORDER; x++) {
          scores[y * width + x] = scoreOf(bytes, at + y * width + x, width, step);
        }
      }
      let count = 0;
      for (const [pixel, score] of scores.entries()) {
        if (score < 0) continue;
        const other = (x: number, y: number) => Math.max(0, scores[pixel + y * width + x] as number);
        const isBelow =
          [other(-1, 0), other(0, -1), other(-1, -1), other(-1, 1)].some((near) => score < near) ||
          [other(1, 0), other(0, 1), other(1, -1), other(1, 1)].some((near) => score <= near);
        const response = isBelow ? 0 : harris(bytes, at + pixel, width);
        if (response <= 0) continue;
        view.setUint32(outAt + 8 * count, pixel, true);
        view.setFloat32(outAt + 8 * count + 4, response, true);
        count++;
      }
      return count;
    },
    moments(at, width, outAt) {
      const moment = [0, 0] as [number, number];
      for (let v = -RADIUS; v <= RADIUS; v++) {
        const reach = Math.floor(Math.sqrt(RADIUS * RADIUS - v * v));
        for (let u = -reach; u <= reach; u++) {
          const value = byte(at + v * width + u);
          moment[0] += u * value;
          moment[1] += v * value;
        }
      }
      view.setInt32(outAt, moment[0], true);
      view.setInt32(outAt + 4, moment[1], true);
    },
    describe(at, width, pairsAt, count, outAt) {
      const pixel = (pair: number) => byte(at + view.getInt8(pair + 1) * width + view.getInt8(pair));
      for (let word = 0; word < count; word += 32) {
        let bits = 0;
        for (let bit = 0; bit < 32; bit++) {
          const pair = pairsAt + 4 * (word + bit);
          if (pixel(pair) < pixel(pair + 2)) bits |= 1 << bit;
        }
        view.setInt32(outAt + word / 8, bits, true);
      }
    },
  };
}

function scoreOf(bytes: Uint8Array, at: number, width: number, step: number): number {
  const own = bytes[at] as number;
  let [sum, bright, dark] = [-16 * own, 0, 0];
  for (const [bit, [x, y]] of CIRCLE.entries()) {
    const value = bytes[at + y * width + x] as number;
    sum += value;
    if (value > own + step) bright |= 1 << bit;
    if (value < own - step) dark |= 1 << bit;
  }
  return hasArc(bright) || hasArc(dark) ? Math.abs(sum) : -1;
}

/** Whether nine bits of 16 in a circle are set in a row. */
function hasArc(bits: number): boolean {
  let runs = bits | (bits << 16);
  runs &= runs >>> 1;
  runs &= runs >>> 2;
  runs &= runs >>> 4;
  return (runs & (runs >>> 1)) !== 0;
}

function harris(bytes: Uint8Array, at: number, width: number): number {
  let [xx, yy, xy] = [0, 0, 0];
  for (let v = -3; v <= 3; v++) {
    for (let u = -3; u <= 3; u++) {
      const near = (x: number, y: number) => bytes[at + (v + y) * width + u + x] as number;
      const x = (near(1, 0) - near(-1, 0)) * 2 + near(1, -1) - near(-1, -1) + near(1, 1) - near(-1, 1);
      const y = (near(0, 1) - near(0, -1)) * 2 + near(-1, 1) - near(-1, -1) + near(1, 1) - near(1, -1);
      xx += x * x;
      yy += y * y;
      xy += x * y;
    }
  }
  const trace = xx + yy;
  return xx * yy - xy * xy - 0.04 * (trace * trace);
}
