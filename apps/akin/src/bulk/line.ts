/** One document of the input. */
export interface Line {
  /** Counted from 1; of a JSON array the place of the element, of Parquet that of the row, from 1. */
  readonly number: number;
  /** UTF-8, without its line end; undefined when it is too long to be sent. */
  readonly bytes: Buffer | undefined;
  /** Why it cannot be sent, where there are no bytes and it is not too long. */
  readonly problem?: string;
  /** Bytes of the unpacked input before it and including it; 0 where nobody can go on by it. */
  readonly start: number;
  readonly end: number;
}

/** Where to begin: the number of lines and of bytes of the unpacked input to skip. */
export interface Start {
  readonly lines: number;
  readonly bytes: number;
}

/** What the gateway takes as one document. */
export const LONGEST_LINE = 8 * 1024 ** 2;
