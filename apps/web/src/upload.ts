import { AkinRequestError, type Collection, PictureError } from '@akin/client';
import { TEXTS } from './texts.ts';
import type { Query } from './view-state.ts';

/**
 * Maximum side of the picture that is sent: the analysis uses fewer pixels, and a photo of 12 MB would only take longer
 * to send.
 */
const LONGEST_SIDE = 800;
/** akin reads 35 MB of parameters, and as a parameter a picture takes 1.42 times its bytes. */
const MAX_BYTES = 24 * 1024 ** 2;
/** Outputs used for ranking; only these are kept, so that they fit into a URL. */
const DESCRIPTORS = ['content_descriptor', 'color_descriptor', 'duplicate_descriptor'];

/** Uploaded pictures that are too long for the URL, by the number in their entry of the browser's history. */
const uploads = new Map<number, Query>();

/** What the browser's history stores for a query that is not in the URL: the number of its upload. */
export function historyState(query: Query | null): { readonly upload?: number } {
  if (query?.by !== 'data') return {};
  const known = [...uploads].find(([, one]) => one === query)?.[0];
  // Numbers of an earlier load of the page must not mean another picture.
  const upload = known ?? Date.now();
  uploads.set(upload, query);
  return { upload };
}

/** The uploaded picture of an entry of the history; null if it has none, or the page was loaded again since. */
export function uploadOf(entry: { readonly upload?: number } | null): Query | null {
  return uploads.get(entry?.upload ?? -1) ?? null;
}

/**
 * The query for pictures similar to a dropped, chosen or pasted file: the descriptors of its outputs, or, if the key
 * does not allow an analysis, the picture itself.
 *
 * @throws {Error} when the file is not a picture that akin supports; the message is for the user.
 */
export async function queryOfFile(collection: Collection, file: Blob): Promise<Query> {
  const sent = await scaleDown(file);
  // Only files that the browser cannot decode are still this large, for example videos or archives.
  if (sent.size > MAX_BYTES) throw new PictureError(413, TEXTS.messages.tooLarge);
  const data = await toBase64(sent);
  try {
    const outputs: Record<string, unknown> = JSON.parse((await collection.analyze({ data })).outputs);
    return {
      by: 'outputs',
      outputs: JSON.stringify(Object.fromEntries(DESCRIPTORS.map((name) => [name, outputs[name]]))),
    };
  } catch (error) {
    if (!(error instanceof AkinRequestError) || error.status !== 403) throw error;
    return { by: 'data', data };
  }
}

/** A smaller JPEG of a large picture. Returns the file itself if it is small, or the browser cannot decode it. */
async function scaleDown(file: Blob): Promise<Blob> {
  let picture: ImageBitmap;
  try {
    picture = await createImageBitmap(file);
  } catch {
    return file;
  }
  const scale = LONGEST_SIDE / Math.max(picture.width, picture.height);
  if (scale >= 1) return file;
  const canvas = new OffscreenCanvas(
    Math.max(1, Math.round(picture.width * scale)),
    Math.max(1, Math.round(picture.height * scale)),
  );
  const context = canvas.getContext('2d');
  if (!context) return file;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.92 });
}

async function toBase64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (let start = 0; start < bytes.length; start += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(text);
}
