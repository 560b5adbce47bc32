import { badRequest, DEFINABLE_TYPES, type FieldType, quote } from '@akin/domain';

/**
 * Parses `name:type`, such as `price:double` or `sizes:string[]`. A name may contain colons.
 * @throws AkinError bad-request
 */
export function readFieldTypes(texts: readonly string[]): Map<string, FieldType> {
  const types = new Map<string, FieldType>();
  for (const text of texts) {
    const colon = text.lastIndexOf(':');
    const type = DEFINABLE_TYPES.get(text.slice(colon + 1));
    if (colon < 1 || type === undefined) {
      throw badRequest(
        `Parameter field: ${quote(text)} is not name:type, where type is one of ${[...DEFINABLE_TYPES.keys()].join(', ')}.`,
      );
    }
    types.set(text.slice(0, colon), type);
  }
  return types;
}
