import { readHalves, writeHalves } from '@akin/domain';

/**
 * The safetensors format: 8 bytes of header length (little-endian), a JSON header of names, types, shapes and byte
 * ranges with a `__metadata__` of strings, then the numbers. Weights and codebooks use this format, because common
 * tools can open it and it contains no executable code.
 */
export interface Tensors {
  readonly metadata: Readonly<Record<string, string>>;
  /** The numbers of one tensor as floats. @throws Error when the tensor is missing or has another shape */
  get(name: string, shape: readonly number[]): Float32Array;
}

interface TensorHeader {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/**
 * Reads the header; a tensor is read at its first use. `label` names the file in errors. These are plain Errors,
 * because a damaged installation is not a bad request.
 */
export function readSafetensors(bytes: Uint8Array, label: string): Tensors {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerLength = bytes.length < 8 ? -1 : Number(view.getBigUint64(0, true));
  if (headerLength < 2 || headerLength > bytes.length - 8) throw new Error(`${label} is not a safetensors file.`);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + headerLength))) as Record<
    string,
    TensorHeader
  >;
  const start = 8 + headerLength;
  const { __metadata__: metadata, ...tensors } = header;
  const end = Math.max(0, ...Object.values(tensors).map((tensor) => tensor.data_offsets[1]));
  if (start + end !== bytes.length) {
    throw new Error(`${label} is damaged: ${bytes.length} bytes where its header asks for ${start + end}.`);
  }

  return {
    metadata: (metadata ?? {}) as unknown as Record<string, string>,
    get(name, shape) {
      const tensor = tensors[name];
      if (tensor === undefined) throw new Error(`${label} has no tensor ${name}.`);
      if (tensor.shape.join() !== shape.join()) {
        throw new Error(`${label}: tensor ${name} has shape [${tensor.shape}] where [${shape}] is expected.`);
      }
      const count = shape.reduce((product, side) => product * side, 1);
      const [from, to] = tensor.data_offsets;
      if (tensor.dtype === 'F16' && to - from === count * 2) return readHalves(bytes, start + from, count);
      if (tensor.dtype === 'F32' && to - from === count * 4) {
        // Copy the bytes, because the offset of a float array must be a multiple of 4.
        return new Float32Array(new Uint8Array(bytes.subarray(start + from, start + to)).buffer);
      }
      throw new Error(`${label}: tensor ${name} is ${tensor.dtype} in ${to - from} bytes, which does not fit.`);
    },
  };
}

/** Writes tensors in half precision, in the given order. */
export function writeSafetensors(
  tensors: Readonly<Record<string, { readonly shape: readonly number[]; readonly values: ArrayLike<number> }>>,
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let length = 0;
  for (const [name, { shape, values }] of Object.entries(tensors)) {
    header[name] = { dtype: 'F16', shape, data_offsets: [length, length + values.length * 2] };
    length += values.length * 2;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const headerLength = Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(8 + headerLength + length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(headerLength), true);
  bytes.fill(0x20, 8, 8 + headerLength);
  bytes.set(text, 8);
  let at = 8 + headerLength;
  for (const { values } of Object.values(tensors)) {
    writeHalves(values, bytes, at);
    at += values.length * 2;
  }
  return bytes;
}
