import { AkinError, quote } from '@akin/domain';
import { findCollection } from '@akin/store/database';
import { readStoredPicture } from '@akin/store/search';
import type { HandlerResult } from '../http/handler-result.ts';
import { namesEtag, readRange } from '../http/range.ts';
import type { HandlerFor } from '../http/serve.ts';

const HEADERS = {
  'cache-control': 'private, no-cache',
  // Whatever the bytes are, no browser may treat them as a page, and no other site may show them.
  'content-security-policy': 'sandbox',
  'cross-origin-resource-policy': 'same-origin',
} as const;

export const original: HandlerFor<'original'> = async (
  { parameters, header, signal },
  { store, originals },
): Promise<HandlerResult> => {
  if (/^(cross-site|same-site)$/i.test(header('sec-fetch-site') ?? '')) {
    throw new AkinError('forbidden', 'Pages of another site may not show original pictures.');
  }
  const collection = await findCollection(store, parameters.collection);
  const place = (await readStoredPicture(store, collection, parameters.id))?.place;
  const file = place && (await originals.open({ collection: collection.name, ...place }));
  if (file === undefined) {
    throw new AkinError(
      'not-found',
      `There is no original of ${quote(parameters.id)}: the document is not visible, its file was removed, or akin did not index its folder into this collection on this machine.`,
    );
  }
  const etag = `"${file.version}${parameters.format === undefined ? '' : `-${parameters.format}`}"`;
  const headers = { ...HEADERS, etag };
  if (namesEtag(header('if-none-match'), etag)) return { status: 304, type: '', bytes: '', headers };
  if (parameters.format === 'webp') return { type: 'image/webp', bytes: await file.webp(signal), headers };

  const ranged = { ...headers, 'accept-ranges': 'bytes', 'last-modified': file.modified.toUTCString() };
  const ifRange = header('if-range');
  const isCurrent = ifRange === undefined || namesEtag(ifRange, etag);
  const range = isCurrent ? readRange(header('range'), file.size) : undefined;
  if (range === 'unsatisfiable') {
    return {
      status: 416,
      type: 'text/plain',
      bytes: '',
      headers: { ...ranged, 'content-range': `bytes */${file.size}` },
    };
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  const part = { type: file.type, length: end - start + 1, chunks: () => file.read(start, end) };
  if (range === undefined) return { ...part, headers: ranged };
  return { status: 206, ...part, headers: { ...ranged, 'content-range': `bytes ${start}-${end}/${file.size}` } };
};
