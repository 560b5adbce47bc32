import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { findCollection, readThumbnail } from '@akin/store';
import type { Handler } from '../http/frame.ts';

/** The small picture of a document. It may be shown from memory as long as its ETag is the same. */
export const thumbnail: Handler<ParametersOf<Endpoints['thumbnail']>> = async ({ parameters, header }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const found = await readThumbnail(store, collection, parameters.id);
  if (!found) throw new AkinError('not-found', 'That document has no thumbnail.');
  const etag = `"${found.etag}"`;
  const headers = {
    etag,
    'cache-control': 'private, no-cache',
    // Whatever the bytes are, no browser may take them for a page.
    'content-security-policy': "default-src 'none'; sandbox",
  };
  const known = (header('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) return { status: 304, type: '', bytes: '', headers };
  return { type: typeOf(found.bytes), bytes: found.bytes, headers };
};

/** Ours are WebP; those sent with a document may be JPEG or PNG. */
function typeOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff) return 'image/jpeg';
  return bytes[0] === 0x89 ? 'image/png' : 'image/webp';
}
