import { publish, sendDocuments, sendJson, timed } from '../lib/http.mjs';
import { makePart, partCounts } from './collection.mjs';

/**
 * Fills a collection by updates over HTTP, file by file. Missing files are made first. It does nothing if the
 * collection already has all documents.
 *
 * @returns {Promise<{ acceptedPerSecond: number, visiblePerSecond: number } | undefined>} undefined if the collection
 *   already had all documents
 */
export async function load(collectionUrl, folder, documents, model) {
  const { documents: there } = await sendJson(collectionUrl);
  if (there === documents) return undefined;
  if (there > 0)
    throw new Error(`${collectionUrl} holds ${there} documents, not ${documents}: choose another folder or database`);
  let accepting = 0;
  let making = 0;
  let accepted = 0;
  const seconds = await timed(async () => {
    for (const [part, count] of partCounts(documents).entries()) {
      let paths;
      making += await timed(async () => {
        paths = await makePart(folder, part, count, model);
      });
      accepting += await timed(() => sendDocuments(collectionUrl, paths.documents));
      accepted += count;
      console.error(`${accepted} documents accepted`);
    }
    await publish(collectionUrl);
  });
  return {
    acceptedPerSecond: (documents * 1000) / accepting,
    visiblePerSecond: (documents * 1000) / (seconds - making),
  };
}
