import type { FilePlace } from '@akin/store';
import type { Originals } from './config.ts';
import { MAX_PICTURE_BYTES } from './http/pictures.ts';

/** The bytes of the original file of a document, if it exists here and is not too large. */
export async function readOriginal(
  collection: string,
  place: FilePlace | undefined,
  originals: Originals,
): Promise<Uint8Array | undefined> {
  if (place === undefined) return undefined;
  const file = await originals.open({ collection, ...place }).catch(() => undefined);
  if (file === undefined || file.size === 0 || file.size > MAX_PICTURE_BYTES) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.read(0, file.size - 1)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
