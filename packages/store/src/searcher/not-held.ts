/** Bytes of a row besides its vectors. */
const ROW_BYTES = 40;
/** Bytes of codes for each number of a vector. */
const CODE_BYTES = 0.63;

/** Fewer documents keep their vectors as they are, in room that doubles. */
const MOST_FLOATS = 40_000;
const FLOAT_BYTES = 8;

/** A search needs what is not in memory yet. */
export class NotHeld {
  readonly module: string;
  readonly documents: number;
  /** What it takes in memory, about. */
  readonly bytes: number;

  constructor(module: string, documents: number, dimensions: number) {
    this.module = module;
    this.documents = documents;
    const bytes = documents <= MOST_FLOATS ? FLOAT_BYTES : CODE_BYTES;
    this.bytes = documents * (ROW_BYTES + bytes * dimensions);
  }
}
