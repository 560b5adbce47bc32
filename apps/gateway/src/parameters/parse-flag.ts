import { flag } from '@akin/contract';
import { JsonNumber, type JsonValue } from '@akin/domain';

const FLAG = flag();

/** A boolean in any spelling that a parameter may have. Undefined if it is no boolean. */
export function parseFlag(value: JsonValue | undefined): boolean | undefined {
  return FLAG.safeParse(value instanceof JsonNumber ? value.text : typeof value === 'boolean' ? String(value) : value)
    .data;
}
