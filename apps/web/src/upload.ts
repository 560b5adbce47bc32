import { AkinRequestError, type Collection, PictureError } from '@akin/client';
import { MODES } from './mode.ts';
import { TEXTS } from './texts.ts';
import type { Query } from './view-state.ts';

/**
 * Maximum side of the picture that is sent: the analysis uses fewer pixels, and a photo of 12 MB would only take longer
 * to send.
 */
const LONGEST_SIDE = 800;
/** akin reads 35 MB of parameters, and as a parameter a picture takes 1.42 times its bytes. */
const MAX_BYTES = 24 * 1024 ** 2;
/** A longer picture is not kept in the history: browsers limit its size. */
const MAX_KEPT_LENGTH = 8_000_000;
/** Longest side of the picture in the URL, which shows what was searched for. */
const SHOWN_SIDE = 96;

/** What the browser's history stores for a query that is not in the URL. It survives a reload. */
export function historyState(query: Query | null): { readonly upload?: Query } {
  const isKept = query !== null && 'data' in query && query.data.length <= MAX_KEPT_LENGTH;
  return isKept ? { upload: query } : {};
}

/**
 * The query for pictures similar to a dropped, chosen or pasted file: the descriptors of its outputs, or, if the key
 * does not allow an analysis, the picture itself.
 *
 * @param keepsPicture whether the picture itself is kept, too, for a search for copies
 * @throws {Error} when the file is not a picture that akin supports; the message is for the user.
 */
export async function queryOfFile(collection: Collection, file: Blob, keepsPicture: boolean): Promise<Query> {
  const query = await readFile(collection, file, keepsPicture);
  uploaded = { file, query };
  return query;
}

/** The last uploaded picture, as long as the page is open. */
let uploaded: { readonly file: Blob; readonly query: Query } | undefined;

/** Undefined after a reload. */
export function fileOfQuery(query: Query | null): Blob | undefined {
  return query !== null && uploaded?.query === query ? uploaded.file : undefined;
}

async function readFile(collection: Collection, file: Blob, keepsPicture: boolean): Promise<Query> {
  const sent = (await scaleDown(file, LONGEST_SIDE)) ?? file;
  // Only files that the browser cannot decode are still this large, for example videos or archives.
  if (sent.size > MAX_BYTES) throw new PictureError(413, TEXTS.messages.tooLarge);
  const data = await toBase64(sent);
  const small = await scaleDown(file, SHOWN_SIDE, 0.7);
  const shown = small ? { picture: await toBase64(small) } : {};
  try {
    // The modules that rank, whichever the collection has. Only descriptors are kept, so that they fit into a URL.
    const { outputs } = await collection.analyze({ data }, { 'modules.apply': MODES.join() });
    const descriptors = Object.entries(JSON.parse(outputs)).filter(([name]) => name.endsWith('_descriptor'));
    return {
      by: 'outputs',
      outputs: JSON.stringify(Object.fromEntries(descriptors)),
      ...(keepsPicture && { data }),
      ...shown,
    };
  } catch (error) {
    if (!(error instanceof AkinRequestError) || error.status !== 403) throw error;
    return { by: 'data', data, ...shown };
  }
}

/** A JPEG of a larger picture. Undefined if it is not larger, or the browser cannot decode it. */
async function scaleDown(file: Blob, longestSide: number, quality = 0.92): Promise<Blob | undefined> {
  let picture: ImageBitmap;
  try {
    picture = await createImageBitmap(file);
  } catch {
    return undefined;
  }
  const scale = longestSide / Math.max(picture.width, picture.height);
  if (scale >= 1) return undefined;
  const canvas = new OffscreenCanvas(
    Math.max(1, Math.round(picture.width * scale)),
    Math.max(1, Math.round(picture.height * scale)),
  );
  const context = canvas.getContext('2d');
  if (!context) return undefined;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: 'image/jpeg', quality });
}

export async function toBase64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (let start = 0; start < bytes.length; start += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(text);
}
