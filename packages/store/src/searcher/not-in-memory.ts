/** A search needs data that is not in memory yet. */
export class NotInMemory {
  readonly module: string;
  /** Number of documents with a vector of the module. */
  readonly documents: number;
  readonly dimensions: number;

  constructor(module: string, documents: number, dimensions: number) {
    this.module = module;
    this.documents = documents;
    this.dimensions = dimensions;
  }
}
