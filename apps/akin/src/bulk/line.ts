export interface Line {
  /** Number of the line; in a JSON array of the element; in Parquet of the row. It begins at 1. */
  readonly number: number;
  /** UTF-8, without the line end. Undefined if it is too long to be sent. */
  readonly bytes: Buffer | undefined;
  /** The reason why the line cannot be sent. It is set if there are no bytes and the line is not too long. */
  readonly problem?: string;
  /** Number of bytes of the unpacked input before this document. 0 if it is unknown. */
  readonly start: number;
  /** The same, including this document and its line end. */
  readonly end: number;
}

/** The lines and bytes of the unpacked input that a run skips. */
export interface InputPosition {
  readonly lines: number;
  readonly bytes: number;
}

/** Maximum number of bytes that the gateway accepts as one document. */
export const LONGEST_LINE = 8 * 1024 ** 2;
