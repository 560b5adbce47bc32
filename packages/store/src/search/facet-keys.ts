import type { FieldType, FieldValue } from '@akin/domain';

/** SQL of a value as the text that {@link readKey} reads. */
export function keySql(value: string, type: FieldType): string {
  return type === 'date' ? `(extract(epoch from ${value}) * 1000)::int8::text` : `${value}::text`;
}

export function readKey(key: string, type: FieldType): FieldValue {
  switch (type) {
    case 'long':
      return BigInt(key);
    case 'double':
      return Number(key);
    case 'boolean':
      return key === 'true';
    case 'date':
      return new Date(Number(key));
    default:
      return key;
  }
}
