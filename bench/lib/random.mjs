import { randomNumbers } from '@akin/testing';

/** Draws that depend on the seed alone. */
export function createDice(seed) {
  const random = randomNumbers(seed);
  return {
    /** A number from 0 to 1, without 1. */
    number: random,
    /** A whole number from 0 to `below` - 1. */
    whole: (below) => Math.floor(random() * below),
    /** One of a list. */
    one: (list) => list[Math.floor(random() * list.length)],
    /** Mean 0, deviation 1 (Box and Muller 1958). */
    normal: () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  };
}
