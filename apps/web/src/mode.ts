/** What pictures are compared by. */
export type Mode = 'content' | 'color' | 'duplicate';
