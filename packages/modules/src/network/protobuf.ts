/**
 * A writer for the wire format of protocol buffers: each field is a key (number and wire type) and a value. A message
 * is the list of its fields, in any order.
 *
 * A field is a list of chunks, so that weights inside several messages are copied only once, by {@link join}.
 */
export type Field = readonly Uint8Array[];

export function integer(number: number, value: number): Field {
  return [varint(number * 8), varint(value)];
}

/** Bytes, text or an embedded message. */
export function block(number: number, content: Uint8Array | string | readonly Field[]): Field {
  const chunks =
    typeof content === 'string' ? [new TextEncoder().encode(content)] : isFields(content) ? content.flat() : [content];
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return [varint(number * 8 + 2), varint(length), ...chunks];
}

export function integers(number: number, values: readonly number[]): Field {
  return block(number, Buffer.concat(values.map(varint)));
}

export function join(fields: readonly Field[]): Uint8Array {
  return Buffer.concat(fields.flat());
}

function isFields(content: Uint8Array | readonly Field[]): content is readonly Field[] {
  return Array.isArray(content);
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
