/** What parts copies from other pictures: the score as a duplicate from which on two are taken for copies of one. */
export const COPY_SCORE = 0.7;
