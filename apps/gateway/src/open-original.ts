import type { FilePlace } from '@akin/store/search';
import type { Original, Originals } from './config.ts';

/** The original file of a document, if it exists here and is a picture. */
export async function openOriginal(
  originals: Originals,
  collection: string,
  place: FilePlace | undefined,
): Promise<Original | undefined> {
  return place === undefined ? undefined : originals.open({ collection, ...place }).catch(() => undefined);
}
