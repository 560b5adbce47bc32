import type { Pixels } from '@akin/imaging';

/*
 * Resizes exactly as Pillow does, bit for bit, because the models of Hugging Face were trained and tested with it.
 * Separable: first horizontally, then vertically, each rounded to bytes. When shrinking, the kernel is widened, which
 * is the antialiasing. Weights are fixed-point numbers with 22 fraction bits.
 */

interface Kernel {
  readonly support: number;
  at(x: number): number;
}

/** Pillow's numbers for its filters, as in `resample` of a preprocessor_config.json. */
export const KERNELS: Readonly<Record<number, Kernel>> = {
  // Lanczos
  1: { support: 3, at: (x) => (Math.abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0) },
  // Bilinear
  2: { support: 1, at: (x) => Math.max(0, 1 - Math.abs(x)) },
  // Bicubic
  3: { support: 2, at: bicubic },
};

export interface Part {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * @param width the width of the whole picture after resizing
 * @param resample a key of {@link KERNELS}
 * @param part the part of the resized picture that is computed, even if the picture is very long; default: all of it
 */
export function resizeLikePillow(
  pixels: Pixels,
  width: number,
  height: number,
  resample: number,
  part: Part = { left: 0, top: 0, width, height },
): Pixels {
  const kernel = KERNELS[resample] as Kernel;
  const isWide = width === pixels.width && part.width === width;
  const across = isWide
    ? pixels
    : alongX(pixels, part.width, weightsOf(kernel, pixels.width, width, part.left, part.width));
  const isHigh = height === across.height && part.height === height;
  return isHigh ? across : alongY(across, part.height, weightsOf(kernel, across.height, height, part.top, part.height));
}

/** For each target row or column: its first source row or column, how many there are, and their weights. */
interface Weights {
  readonly first: Int32Array;
  readonly count: Int32Array;
  readonly values: Int32Array;
  readonly max: number;
}

const BITS = 22;
const HALF = 2 ** (BITS - 1);

function weightsOf({ support, at }: Kernel, from: number, to: number, begin: number, wanted: number): Weights {
  const scale = from / to;
  const stretch = Math.max(scale, 1);
  const reach = support * stretch;
  const max = Math.ceil(reach) * 2 + 1;
  const first = new Int32Array(wanted);
  const count = new Int32Array(wanted);
  const values = new Int32Array(wanted * max);
  const exact = new Float64Array(max);
  for (let target = 0; target < wanted; target++) {
    const center = (begin + target + 0.5) * scale;
    const start = Math.max(0, Math.trunc(center - reach + 0.5));
    const length = Math.min(from, Math.trunc(center + reach + 0.5)) - start;
    let sum = 0;
    for (let i = 0; i < length; i++) {
      exact[i] = at((i + start - center + 0.5) / stretch);
      sum += exact[i] as number;
    }
    first[target] = start;
    count[target] = length;
    for (let i = 0; i < length; i++) {
      const weight = ((exact[i] as number) / (sum || 1)) * 2 ** BITS;
      values[target * max + i] = Math.trunc(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
  }
  return { first, count, values, max };
}

function alongX({ width: from, height, data }: Pixels, width: number, { first, count, values, max }: Weights): Pixels {
  const result = new Uint8ClampedArray(width * height * 3);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      let source = (y * from + (first[x] as number)) * 3;
      const start = x * max;
      let red = HALF;
      let green = HALF;
      let blue = HALF;
      for (let i = start, end = start + (count[x] as number); i < end; i++, source += 3) {
        const weight = values[i] as number;
        red += (data[source] as number) * weight;
        green += (data[source + 1] as number) * weight;
        blue += (data[source + 2] as number) * weight;
      }
      result[at] = red >> BITS;
      result[at + 1] = green >> BITS;
      result[at + 2] = blue >> BITS;
    }
  }
  return { width, height, data: new Uint8Array(result.buffer) };
}

function alongY({ width, data }: Pixels, height: number, { first, count, values, max }: Weights): Pixels {
  const stride = width * 3;
  const result = new Uint8ClampedArray(stride * height);
  const sums = new Int32Array(stride);
  for (let y = 0; y < height; y++) {
    sums.fill(HALF);
    for (let i = 0; i < (count[y] as number); i++) {
      const weight = values[y * max + i] as number;
      const source = ((first[y] as number) + i) * stride;
      for (let x = 0; x < stride; x++) sums[x] = (sums[x] as number) + (data[source + x] as number) * weight;
    }
    for (let x = 0; x < stride; x++) result[y * stride + x] = (sums[x] as number) >> BITS;
  }
  return { width, height, data: new Uint8Array(result.buffer) };
}

/** The kernel of Catmull and Rom, with a = -0.5. */
function bicubic(x: number): number {
  const far = Math.abs(x);
  if (far < 1) return (1.5 * far - 2.5) * far * far + 1;
  return far < 2 ? ((-0.5 * far + 2.5) * far - 4) * far + 2 : 0;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}
