import type { FieldType, Schema } from './schema.ts';
import { detach } from './text.ts';

/** The most fields that documents may define in one collection. */
export const MAX_FIELDS = 1_000;

/**
 * The types that the documents of one request give to fields that the schema did not have when they were validated.
 * The first document that has a field decides; the others must fit. Whether the whole still holds is asked when the
 * request is accepted: where the schema has got another type meanwhile, the documents are validated again.
 */
export class TypeClaims {
  readonly #types = new Map<string, FieldType>();

  typeOf(name: string): FieldType | undefined {
    return this.#types.get(name);
  }

  /** Called by `validateDocument` for a document that has no errors. */
  add(types: ReadonlyMap<string, FieldType>): void {
    for (const [name, type] of types) {
      if (!this.#types.has(name)) this.#types.set(detach(name), type);
    }
  }

  /** The claimed fields in the order in which they came. */
  newFields(): Map<string, FieldType> {
    return new Map(this.#types);
  }

  /** How many fields of documents the collection has with these claims and further names. */
  countFields(schema: Schema, further: Iterable<string> = []): number {
    const names = new Set([...this.#types.keys(), ...further]);
    for (const field of schema.values()) {
      if (field.origin === 'document') names.add(field.name);
    }
    return names.size;
  }
}
