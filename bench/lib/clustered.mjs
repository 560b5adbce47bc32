import { createDice } from './random.mjs';

/**
 * Makes up vectors of length 1 that lie around some centers.
 *
 * @param {{ dimensions: number, centers: number, seed: number }} options
 */
export function clusteredVectors({ dimensions, centers: count, seed }) {
  const dice = createDice(seed);
  // The noise is drawn once. Each of a million vectors uses a part of it.
  const noise = Float32Array.from({ length: 65_536 }, () => dice.normal());
  const centers = Array.from({ length: count }, () =>
    // The first numbers vary most, as in descriptors of pictures.
    unit(Float32Array.from({ length: dimensions }, (_, i) => dice.normal() / (1 + i / 20))),
  );
  return {
    dice,
    /** A vector near a center. */
    around(center) {
      const spread = (0.3 + 0.7 * dice.number()) / Math.sqrt(dimensions);
      const from = dice.whole(noise.length);
      return unit(centers[center].map((number, i) => number + spread * noise[(from + 7 * i) % noise.length]));
    },
  };
}

function unit(vector) {
  // A loop is fast enough for millions of vectors.
  let square = 0;
  for (const number of vector) square += number * number;
  const length = Math.sqrt(square);
  return vector.map((number) => number / length);
}
