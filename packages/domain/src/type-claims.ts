import type { FieldType, Schema } from './schema.ts';
import { copyString } from './text.ts';

/** Maximum fields that documents may define in one collection. */
export const MAX_FIELDS = 1_000;

/**
 * The types that documents of one request give to new fields, which the schema did not have during validation. The
 * first document with a field decides; the others must fit. When the request is accepted, the types are checked again:
 * if the schema now has another type, the documents are validated again.
 */
export class TypeClaims {
  readonly #types = new Map<string, FieldType>();

  typeOf(name: string): FieldType | undefined {
    return this.#types.get(name);
  }

  /** Call this with the new types of each document that is taken, before the next one is validated. */
  add(types: ReadonlyMap<string, FieldType>): void {
    for (const [name, type] of types) {
      if (!this.#types.has(name)) this.#types.set(copyString(name), type);
    }
  }

  /** The claimed fields in the order of their first use. */
  newFields(): Map<string, FieldType> {
    return new Map(this.#types);
  }

  /** The number of fields that documents define in the collection, including these claims and further names. */
  countFields(schema: Schema, further: Iterable<string> = []): number {
    const names = new Set([...this.#types.keys(), ...further]);
    for (const field of schema.values()) {
      if (field.origin === 'document') names.add(field.name);
    }
    return names.size;
  }
}
