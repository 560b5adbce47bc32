import { AkinError, badRequest, type ErrorCode, quote } from '@akin/domain';
import type { Collection } from '@akin/store/database';
import { getDocuments, readStoredPicture } from '@akin/store/search';
import type { Analysis } from '../config.ts';
import type { Context } from '../context.ts';
import { openOriginal } from '../open-original.ts';
import { analyzePicture, type PictureOptions } from './analyze-picture.ts';

/** Errors of one source of a picture, after which the next is tried. Forbidden: the key must not fetch URLs. */
const NEXT_SOURCE: readonly ErrorCode[] = [
  ...(['image-unreachable', 'image-undecodable', 'unsupported-image', 'too-large', 'forbidden'] as const),
];

/** The output that holds the points of a picture. */
const POINTS = 'parts_points';

/**
 * The analysis of the picture of a visible document: of its original file, else from its address, else of its
 * thumbnail, which a warning says. Without any of these, a search for parts takes the points that are stored.
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
    `Parameter ${parameter}: the document ${quote(id)} has no picture that can be read again. Send the picture itself, or add an image or a thumbnail to the document.`,
  );
  for (const source of sources) {
    try {
      return await analyzePicture(source, parameter, modules, signal, context, options);
    } catch (error) {
      if (!(error instanceof AkinError) || !NEXT_SOURCE.includes(error.code)) throw error;
      problem = error;
    }
  }
  if (thumbnail === undefined) {
    const points = options.soughtPoints && !options.region && (await readPoints(collection, id, context));
    if (!points) throw problem;
    const warning = `${parameter}: the picture of ${quote(id)} could not be read, so its stored points were used, which find less.`;
    return { outputs: JSON.stringify({ [POINTS]: points }), warnings: [warning] };
  }
  const warning = `${parameter}: the original picture of ${quote(id)} could not be read, so its thumbnail of at most 256 pixels was used.`;
  const picture = { bytes: thumbnail };
  const analysis = await analyzePicture(picture, parameter, modules, signal, context, options).catch((error) => {
    if (!(error instanceof AkinError) || error.code !== 'bad-request') throw error;
    throw new AkinError(error.code, `${warning} ${error.message}`, { cause: error });
  });
  return { ...analysis, warnings: [...(analysis.warnings ?? []), warning] };
}

/** The points of a visible document, in base64. */
async function readPoints(collection: Collection, id: string, { store }: Context): Promise<string | undefined> {
  const { documents } = await getDocuments(store, collection, [id], [POINTS]);
  return documents.get(id)?.get(POINTS) as string | undefined;
}
