/** A search needs what is not in memory yet. */
export class NotHeld {
  readonly module: string;
  /** How many have a vector of the module. */
  readonly documents: number;
  /** Numbers of such a vector. */
  readonly dimensions: number;

  constructor(module: string, documents: number, dimensions: number) {
    this.module = module;
    this.documents = documents;
    this.dimensions = dimensions;
  }
}
