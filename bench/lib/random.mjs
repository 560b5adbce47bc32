import { randomNumbers } from '@akin/testing';

/** Draws that depend on the seed alone. */
export function createDice(seed) {
  const random = randomNumbers(seed);
  return {
    /** 0 up to 1. */
    number: random,
    /** 0 up to, and without, `below`. */
    whole: (below) => Math.floor(random() * below),
    /** One of a list. */
    one: (list) => list[Math.floor(random() * list.length)],
    /** Mean 0, deviation 1 (Box and Muller 1958). */
    normal: () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  };
}
