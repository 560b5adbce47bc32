import type { Pixels } from '@akin/imaging';

export function gray(level: number): string {
  return `#${Math.round(level).toString(16).padStart(2, '0').repeat(3)}`;
}

export function noise(width: number, height: number, seed = 1): Pixels {
  return { width, height, data: Uint8Array.from({ length: width * height * 3 }, noiseBytes(seed)) };
}

/** Simulates a lossy format: changes every byte by up to `amount`. */
export function withNoise({ width, height, data }: Pixels, amount: number): Pixels {
  const next = noiseBytes(7);
  return {
    width,
    height,
    data: data.map((value) => Math.max(0, Math.min(255, value + (next() % (2 * amount + 1)) - amount))),
  };
}

/** A generator of pseudorandom integers from 0 to 255, the same on every machine. */
export function noiseBytes(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  };
}
