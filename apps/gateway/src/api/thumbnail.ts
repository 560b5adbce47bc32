import { AkinError, quote } from '@akin/domain';
import { findCollection } from '@akin/store/database';
import { readThumbnail } from '@akin/store/search';
import { namesEtag } from '../http/range.ts';
import type { HandlerFor } from '../http/serve.ts';

/** A client may reuse a thumbnail as long as its ETag is the same. */
export const thumbnail: HandlerFor<'thumbnail'> = async ({ parameters, header }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const found = await readThumbnail(store, collection, parameters.id);
  if (!found) {
    const name = quote(parameters.id);
    throw new AkinError(
      'not-found',
      `There is no thumbnail of ${name}: the document is not visible, or it has no picture.`,
    );
  }
  const etag = `"${found.etag}"`;
  const headers = {
    etag,
    'cache-control': 'private, no-cache',
    // Whatever the bytes are, no browser may treat them as a page.
    'content-security-policy': "default-src 'none'; sandbox",
  };
  if (namesEtag(header('if-none-match'), etag)) return { status: 304, type: '', bytes: '', headers };
  return { type: 'image/webp', bytes: found.bytes, headers };
};
