/** One document of the input. */
export interface Line {
  /** From 1: the line; in a JSON array the element; in Parquet the row. */
  readonly number: number;
  /** UTF-8, without the line end. Undefined if it is too long to be sent. */
  readonly bytes: Buffer | undefined;
  /** Why it cannot be sent, if there are no bytes and it is not too long. */
  readonly problem?: string;
  /** Number of bytes of the unpacked input before this document. 0 if a run cannot continue by bytes. */
  readonly start: number;
  /** The same, including this document and its line end. */
  readonly end: number;
}

/** Where to start: the number of lines and bytes of the unpacked input to skip. */
export interface Start {
  readonly lines: number;
  readonly bytes: number;
}

/** What the gateway accepts as one document. */
export const LONGEST_LINE = 8 * 1024 ** 2;
