import { descriptorOf } from './codebook.ts';
import { descriptorText } from './descriptor.ts';

interface StoredDescriptor {
  /** Its numbers as little-endian halves. */
  readonly halves: Uint8Array;
  /** The result of {@link packCodes}. */
  readonly codes: Uint8Array;
}

/** The bytes of the codes that are texts in outputs: the length of the first in one byte, and both. */
export function packCodes({ lopq, nclusters }: { readonly lopq: Uint8Array; readonly nclusters: Uint8Array }): Buffer {
  if (lopq.length > 255) throw new Error(`An lopq code has at most 255 bytes, this one ${lopq.length}.`);
  return Buffer.concat([Buffer.from([lopq.length]), lopq, nclusters]);
}

/**
 * The outputs of a descriptor that are texts, by name, as in the outputs of its analysis. Its other codes are numbers,
 * and not contained.
 *
 * @param model what made the descriptor; it need not be in use
 */
export function descriptorTexts(
  module: string,
  model: string,
  { halves, codes }: StoredDescriptor,
): ReadonlyMap<string, string> {
  const packed = Buffer.from(codes.buffer, codes.byteOffset, codes.byteLength);
  const end = 1 + (packed[0] ?? 0);
  return new Map([
    [descriptorOf(module).output, descriptorText(halves, module, model)],
    [`${module}_lopq`, packed.toString('base64', 1, end)],
    [`${module}_nclusters`, packed.toString('base64', end)],
  ]);
}
