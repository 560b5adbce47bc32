import { AkinError, badRequest, type ErrorCode, quote } from '@akin/domain';
import type { Collection } from '@akin/store/database';
import { readStoredPicture } from '@akin/store/search';
import type { Analysis } from '../config.ts';
import type { Context } from '../context.ts';
import { openOriginal } from '../open-original.ts';
import { analyzePicture, type PictureOptions } from './analyze-picture.ts';

/** Errors of one source of a picture, after which the next is tried. Forbidden: the key must not fetch URLs. */
const NEXT_SOURCE: readonly ErrorCode[] = [
  ...(['image-unreachable', 'image-undecodable', 'unsupported-image', 'too-large', 'forbidden'] as const),
];

/**
 * The analysis of the picture of a visible document: of its original file, else from its address, else of its
 * thumbnail, which a warning says.
 *
 * @param parameter its name, for messages
 * @throws AkinError not-found for an id that no document has; bad-request for a document without a picture; as
 * `analyzePicture`
 */
export async function analyzeStoredPicture(
  collection: Collection,
  id: string,
  parameter: string,
  modules: readonly string[],
  signal: AbortSignal,
  context: Context,
  options: PictureOptions,
): Promise<Analysis> {
  const stored = await readStoredPicture(context.store, collection, id);
  if (stored === undefined) {
    throw new AkinError('not-found', `Parameter ${parameter}: no document ${quote(id)} is visible. Was it committed?`);
  }
  const { address, place, thumbnail } = stored;
  const original = await openOriginal(context.originals, collection.name, place);
  const sources = [...(original ? [{ original }] : []), ...(address === undefined ? [] : [{ url: address }])];
  let problem: unknown = badRequest(
    `Parameter ${parameter}: the document ${quote(id)} has no picture that can be read again.`,
  );
  for (const source of sources) {
    try {
      return await analyzePicture(source, parameter, modules, signal, context, options);
    } catch (error) {
      if (!(error instanceof AkinError) || !NEXT_SOURCE.includes(error.code)) throw error;
      problem = error;
    }
  }
  if (thumbnail === undefined) throw problem;
  const warning = `${parameter}: the original picture of ${quote(id)} could not be read, so its thumbnail of at most 256 pixels was used.`;
  const picture = { bytes: thumbnail };
  const analysis = await analyzePicture(picture, parameter, modules, signal, context, options).catch((error) => {
    if (!(error instanceof AkinError) || error.code !== 'bad-request') throw error;
    throw new AkinError(error.code, `${warning} ${error.message}`, { cause: error });
  });
  return { ...analysis, warnings: [...(analysis.warnings ?? []), warning] };
}
