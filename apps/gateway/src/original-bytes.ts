import type { FilePlace } from '@akin/store';
import type { GatewayLimits } from './admission/limits.ts';
import type { Originals } from './config.ts';

/**
 * The bytes of the original file of a document, if it exists here and is not too large.
 *
 * @param reserve is called with their number before they are read; if it throws, they are not
 */
export async function readOriginal(
  collection: string,
  place: FilePlace | undefined,
  { originals, limits }: { readonly originals: Originals; readonly limits: Pick<GatewayLimits, 'pictureBytes'> },
  reserve?: (bytes: number) => void,
): Promise<Uint8Array | undefined> {
  if (place === undefined) return undefined;
  const file = await originals.open({ collection, ...place }).catch(() => undefined);
  if (file === undefined || file.size === 0 || file.size > limits.pictureBytes) return undefined;
  reserve?.(file.size);
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of file.read(0, file.size - 1)) chunks.push(chunk);
  } catch {
    // It has vanished, or its disk has.
    return undefined;
  }
  return Buffer.concat(chunks);
}
