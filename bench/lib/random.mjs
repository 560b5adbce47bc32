import { randomNumbers } from '@akin/testing';

/** Creates a source of random values that depend on the seed alone. */
export function createDice(seed) {
  const random = randomNumbers(seed);
  return {
    /** Draws a number from 0 to 1, without 1. */
    number: random,
    /** Draws a whole number from 0 to `below` - 1. */
    whole: (below) => Math.floor(random() * below),
    /** Draws one element of a list. */
    one: (list) => list[Math.floor(random() * list.length)],
    /** Draws a normally distributed number with mean 0 and deviation 1 (Box and Muller 1958). */
    normal: () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  };
}
