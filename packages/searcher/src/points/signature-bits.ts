// Made by `npm run train-parts`.

/** Which of its bits are the signature of a point. */
export const SIGNATURE_BITS: readonly number[] = [
  5, 11, 13, 17, 18, 26, 28, 29, 34, 35, 38, 39, 45, 88, 89, 130, 133, 139, 141, 145, 146, 154, 156, 162, 163, 165, 166,
  172, 173, 175, 216, 217,
];
