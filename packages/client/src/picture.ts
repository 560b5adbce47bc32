import { createRequestError } from './errors.ts';

/**
 * A picture: its URL (http or https), the path of a file (only in Node), or its bytes as Buffer, Blob, File,
 * ReadableStream or Readable.
 */
export type Picture =
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

/** akin rejects larger pictures, whatever its settings, so no more of a stream is read. */
const MAX_PICTURE_BYTES = 400_000_000;

/** Converts a picture to what is sent: a URL, or bytes. @throws when a file cannot be read, or the error of a stream */
export async function resolvePicture(picture: Picture): Promise<string | Blob> {
  if (picture instanceof URL) return picture.href;
  if (typeof picture === 'string') return /^https?:\/\//i.test(picture) ? picture : readFile(picture);
  if (picture instanceof Blob) return picture;
  if (picture instanceof ArrayBuffer || ArrayBuffer.isView(picture))
    return new Blob([picture as Uint8Array<ArrayBuffer>]);
  return collect(picture as AsyncIterable<Uint8Array | string>);
}

/** Uses no import of a Node module, so that bundlers for browsers work. */
async function readFile(path: string): Promise<Blob> {
  const fs = globalThis.process?.getBuiltinModule?.('node:fs/promises');
  if (fs) return new File([await fs.readFile(path)], path.replace(/^.*[\\/]/s, ''));
  throw new TypeError(`${JSON.stringify(path.slice(0, 100))} is not a URL. In a browser, pass a File or a Blob.`);
}

async function collect(stream: AsyncIterable<Uint8Array | string>): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : new Uint8Array(chunk);
    bytes += part.length;
    if (bytes > MAX_PICTURE_BYTES)
      throw createRequestError(413, 'The picture has more than 400 MB: send a smaller version.');
    chunks.push(part);
  }
  return new Blob(chunks);
}
