/**
 * A writer for the wire format of protocol buffers: each field is a key (number and wire type) and a value. A message
 * is the list of its fields, in any order.
 */
export type Field = Uint8Array;

/** A non-negative integer: int32, int64, enum. */
export function integer(number: number, value: number): Field {
  return join([varint(number * 8), varint(value)]);
}

/** Bytes, text or an embedded message. */
export function block(number: number, content: Uint8Array | string | readonly Field[]): Field {
  const bytes =
    typeof content === 'string' ? new TextEncoder().encode(content) : Array.isArray(content) ? join(content) : content;
  return join([varint(number * 8 + 2), varint((bytes as Uint8Array).length), bytes as Uint8Array]);
}

/** A repeated integer, packed. */
export function integers(number: number, values: readonly number[]): Field {
  return block(number, join(values.map(varint)));
}

/** Concatenates the bytes of a message. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
