/** A search needs data that is not in memory yet. */
export class NotInMemory {
  /** Undefined: rows are enough. */
  readonly module: string | undefined;
  /** Number of documents with a vector of the module. */
  readonly documents: number;
  readonly dimensions: number | undefined;

  constructor(module: string | undefined, documents: number, dimensions: number | undefined) {
    this.module = module;
    this.documents = documents;
    this.dimensions = dimensions;
  }
}
