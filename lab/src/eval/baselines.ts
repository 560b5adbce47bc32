/** Simple classic descriptors, for comparison. All are unit vectors, so that the L2 distance ranks them. */
import { type Pixels, resizeArea } from '@akin/imaging';
import { l2Normalize } from '@akin/modules/internal/vectors/unit';

export const BASELINES: Readonly<Record<string, (pixels: Pixels) => Float32Array>> = {
  pHash,
  dHash,
  'colour histogram': histogram,
  '32 px thumbnail': thumbnail,
};

function grey(pixels: Pixels, width: number, height: number): Float64Array {
  const { data } = resizeArea(pixels, width, height);
  return Float64Array.from(
    { length: width * height },
    (_, i) => 0.299 * (data[3 * i] ?? 0) + 0.587 * (data[3 * i + 1] ?? 0) + 0.114 * (data[3 * i + 2] ?? 0),
  );
}

/** 64 bits as a unit vector of ±1/8: its squared L2 distance is the Hamming distance divided by 16. */
function bits(values: readonly boolean[]): Float32Array {
  return Float32Array.from(values, (bit) => (bit ? 1 : -1) / Math.sqrt(values.length));
}

/** Zauner 2010: which of the 8 x 8 lowest frequencies of a 32 px gray version are above their median. */
function pHash(pixels: Pixels): Float32Array {
  const image = grey(pixels, 32, 32);
  const wave = (frequency: number, at: number) => Math.cos((Math.PI * frequency * (at + 0.5)) / 32);
  const frequencies: number[] = [];
  for (let v = 0; v < 8; v++) {
    for (let u = 0; u < 8; u++) {
      let sum = 0;
      for (let y = 0; y < 32; y++) {
        for (let x = 0; x < 32; x++) sum += (image[32 * y + x] as number) * wave(u, x) * wave(v, y);
      }
      frequencies.push(sum);
    }
  }
  frequencies[0] = 0;
  const median = frequencies.toSorted((a, b) => a - b)[32] as number;
  return bits(frequencies.map((value) => value > median));
}

/** Whether each of 9 x 8 gray pixels is brighter than its right neighbour. */
function dHash(pixels: Pixels): Float32Array {
  const image = grey(pixels, 9, 8);
  return bits(
    Array.from({ length: 64 }, (_, i) => {
      const at = 9 * (i >> 3) + (i & 7);
      return (image[at] as number) > (image[at + 1] as number);
    }),
  );
}

/** 4 x 4 x 4 bins of RGB, square roots of the shares. */
function histogram(pixels: Pixels): Float32Array {
  const { data } = resizeArea(pixels, 64, 64);
  const counts = new Float64Array(64);
  for (let i = 0; i < data.length; i += 3) {
    const bin = 16 * ((data[i] as number) >> 6) + 4 * ((data[i + 1] as number) >> 6) + ((data[i + 2] as number) >> 6);
    counts[bin] = (counts[bin] as number) + 1;
  }
  return l2Normalize(counts.map(Math.sqrt));
}

function thumbnail(pixels: Pixels): Float32Array {
  const { data } = resizeArea(pixels, 32, 32);
  const mean = data.reduce((sum, value) => sum + value, 0) / data.length;
  // A plain picture has no direction: all of them get the same one.
  const centered = Float64Array.from(data, (value) => value - mean);
  return centered.some((value) => Math.abs(value) > 1) ? l2Normalize(centered) : l2Normalize(data.map(() => 1));
}
