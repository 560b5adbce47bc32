/** Two pictures with at least this `duplicate` score count as copies. */
export const COPY_SCORE = 0.7;
