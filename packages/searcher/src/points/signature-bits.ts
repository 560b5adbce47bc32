// Made by `npm run train-parts`.

/** Which of its bits are the signature of a point. */
export const SIGNATURE_BITS: readonly number[] = [
  2, 5, 6, 16, 20, 21, 22, 25, 31, 32, 36, 40, 43, 44, 48, 49, 70, 71, 76, 79, 80, 85, 86, 91, 95, 96, 97, 100, 104,
  108, 112, 116,
];
