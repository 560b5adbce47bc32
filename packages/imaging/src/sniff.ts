import { gunzipSync, constants as zlib } from 'node:zlib';
import { AkinError } from '@akin/domain';
import { findHeicDecoder, HEIC_PACKAGE } from './heic.ts';
import { installCommand } from './install-command.ts';
import { isRawTiff, RAW_BRAND, RAW_EXTENSIONS, RAW_SIGNATURES } from './raw.ts';

export type EncodedType = 'jpeg' | 'png' | 'gif' | 'webp' | 'avif' | 'tiff' | 'bmp' | 'heic';
/** `raw`: a raw file of a camera, of which the largest JPEG inside is decoded. */
export type ImageType = EncodedType | 'raw';

/**
 * File name extensions of all image types except HEIC, in lower case with the dot. They are used to find files; the
 * bytes decide the type.
 */
export const PICTURE_EXTENSIONS: ReadonlySet<string> = new Set(
  [...'jpg jpeg jpe jfif png gif webp avif tif tiff bmp dib'.split(' '), ...RAW_EXTENSIONS].map(
    (extension) => `.${extension}`,
  ),
);

const CONVERT_ADVICE = 'Convert it to JPEG or PNG and send that.';
const HEIC = `It is a HEIC/HEIF photo, as iPhones make them. akin reads it once ${HEIC_PACKAGE} is installed (LGPL): ${installCommand(HEIC_PACKAGE)}. Or convert it to JPEG; on the iPhone: Settings > Camera > Formats > Most Compatible.`;
const VIDEO = 'It is a video. Send one frame of it as JPEG or PNG.';

/**
 * Detects the type of an image by its first bytes; file names and declared types are ignored. decodeImage checks the
 * rest of the file.
 * @throws AkinError `unsupported-image` for other bytes; the message says what they look like and what to do.
 */
export function sniffImage(bytes: Uint8Array): ImageType {
  const head = headOf(bytes);
  const type = imageType(head);
  if (type) return type === 'tiff' && isRawTiff(bytes) ? 'raw' : type;
  if (isHeic(head) && findHeicDecoder() !== undefined) return 'heic';
  throw new AkinError(
    'unsupported-image',
    `This is not an image that can be read (JPEG, PNG, GIF, WebP, AVIF, TIFF, BMP or a raw camera file). ${describe(head)}`,
  );
}

function headOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096));
}

function imageType(head: Buffer): ImageType | undefined {
  const latin = head.toString('latin1', 0, 16);
  const match = (...magics: string[]) => magics.some((magic) => hasMagic(latin, magic));
  if (match('\xff\xd8\xff')) return 'jpeg';
  if (match('\x89PNG\r\n\x1a\n')) return 'png';
  if (match('GIF87a', 'GIF89a')) return 'gif';
  if (match('RIFF????WEBP')) return 'webp';
  if (match(...RAW_SIGNATURES) || brands(head)[0] === RAW_BRAND) return 'raw';
  if (match('II*\0', 'II+\0', 'MM\0*', 'MM\0+')) return 'tiff';
  if (match('BM????\0\0\0\0') && head.length >= 26) return 'bmp';
  if (brands(head).some((brand) => brand === 'avif' || brand === 'avis')) return 'avif';
  return undefined;
}

/** Whether the bytes, read as Latin-1, begin with `magic`, in which `?` stands for any byte. */
function hasMagic(latin: string, magic: string): boolean {
  for (let i = 0; i < magic.length; i++) {
    if (magic[i] !== '?' && magic[i] !== latin[i]) return false;
  }
  return true;
}

/** The brands of an ISO media file (AVIF, HEIC, MP4, QuickTime …), the major one first; empty for other files. */
function brands(head: Buffer): string[] {
  if (head.toString('latin1', 4, 8) !== 'ftyp') return [];
  const end = Math.min(head.readUInt32BE(0), head.length, 256);
  const found = [head.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) found.push(head.toString('latin1', at, at + 4));
  return found;
}

/**
 * Whether the bytes are an HTML page. Some servers send one instead of a picture: errors, log-in pages, hotlink
 * protection.
 */
export function looksLikeWebPage(bytes: Uint8Array): boolean {
  const head = headOf(bytes);
  return !imageType(head) && markup(readText(head)?.text ?? '') === 'html';
}

/**
 * Whether a file with these first bytes is a supported image, or a photo format of phones and cameras, whose rejection
 * must be reported. 256 bytes are enough.
 */
export function looksLikePhoto(bytes: Uint8Array): boolean {
  const head = headOf(bytes);
  const description = describeIsoMedia(brands(head)) ?? describeMagic(head.toString('latin1'));
  return imageType(head) !== undefined || description === HEIC;
}

/** Two sentences for the user: what the bytes are, and what to do. */
function describe(head: Buffer): string {
  if (head.length === 0) return 'It is empty: no bytes arrived.';
  return describeIsoMedia(brands(head)) ?? describeMagic(head.toString('latin1')) ?? describeText(readText(head));
}

function isHeic(head: Buffer): boolean {
  return imageType(head) === undefined && describeIsoMedia(brands(head)) === HEIC;
}

function describeIsoMedia(found: string[]): string | undefined {
  if (found.length === 0) return undefined;
  if (found.some((brand) => /^(hei[cxms]|hev[cxms]|mif1|msf1|mif2|miaf)$/.test(brand))) return HEIC;
  if (/^(M4A|M4B|M4P|F4A)/.test(found[0] as string)) return 'It is a sound recording. Send a picture.';
  return VIDEO;
}

const KNOWN: readonly { magics: readonly string[]; description: string }[] = [
  { magics: ['\0\0\x01\0', '\0\0\x02\0'], description: `It is a Windows icon (ICO). ${CONVERT_ADVICE}` },
  { magics: ['\0\0\0\x0cjP  ', '\xff\x4f\xff\x51'], description: `It is a JPEG 2000 image. ${CONVERT_ADVICE}` },
  { magics: ['\0\0\0\x0cJXL ', '\xff\x0a'], description: `It is a JPEG XL image. ${CONVERT_ADVICE}` },
  { magics: ['8BPS', '8BPB'], description: 'It is a Photoshop file (PSD). Export it as JPEG or PNG and send that.' },
  { magics: ['%!PS', '\xc5\xd0\xd3\xc6'], description: `It is a PostScript file. ${CONVERT_ADVICE}` },
  { magics: ['v/1\x01'], description: `It is an OpenEXR image. ${CONVERT_ADVICE}` },
  {
    // Matroska and WebM, AVI, Flash, MPEG, Windows Media, QuickTime without a ftyp box.
    magics: [
      '\x1aE\xdf\xa3',
      'RIFF????AVI ',
      'FLV\x01',
      '\0\0\x01\xba',
      '\0\0\x01\xb3',
      '\x30\x26\xb2\x75',
      '????moov',
      '????mdat',
      '????wide',
    ],
    description: VIDEO,
  },
  {
    magics: ['RIFF????WAVE', 'ID3', 'OggS', 'fLaC', '\xff\xfb', '\xff\xf3', '\xff\xf2'],
    description: 'It is a sound recording. Send a picture.',
  },
  {
    magics: ['PK\x03\x04', 'PK\x05\x06'],
    description: 'It is a ZIP archive or an office document. Unpack it and send the pictures in it.',
  },
  {
    magics: ['Rar!', '7z\xbc\xaf', 'BZh', '\xfd7zXZ', '\x28\xb5\x2f\xfd'],
    description: 'It is an archive. Unpack it and send the pictures in it.',
  },
];

function describeMagic(latin: string): string | undefined {
  // PDF readers accept up to 1 kB of other bytes before the signature.
  if (latin.slice(0, 1024).includes('%PDF-')) {
    return 'It is a PDF document. Export the page or picture as JPEG or PNG and send that.';
  }
  return KNOWN.find(({ magics }) => magics.some((magic) => hasMagic(latin, magic)))?.description;
}

/** The start as text, after gzip decompression and UTF-16 decoding if needed; undefined for binary data. */
function readText(head: Buffer): { text: string; packed: boolean } | undefined {
  const packed = head[0] === 0x1f && head[1] === 0x8b;
  let bytes = head;
  if (packed) {
    try {
      // Only the head is decompressed: 4 kB become at most 4 MB.
      bytes = gunzipSync(head, { finishFlush: zlib.Z_SYNC_FLUSH }).subarray(0, 4096);
    } catch {
      return { text: '', packed };
    }
  }
  const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = bytes.toString(utf16 ? 'utf16le' : 'utf8').replace(/^\ufeff/, '');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters distinguish binary data from text.
  const invalid = text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\ufffd]/g)?.length ?? 0;
  // One invalid character is allowed: the end of the head may split a character.
  return invalid > 1 ? (packed ? { text: '', packed } : undefined) : { text, packed };
}

/** Web pages may contain SVG and SVG may contain HTML: the first element decides. */
function markup(text: string): 'svg' | 'html' | undefined {
  const svg = text.search(/<svg[\s>:]|<!DOCTYPE svg/i);
  const html = text.search(/<!DOCTYPE html|<html[\s>]|<head[\s>]|<body[\s>]/i);
  if (html >= 0 && (svg < 0 || html < svg)) return 'html';
  return svg >= 0 ? 'svg' : undefined;
}

function describeText(read: { text: string; packed: boolean } | undefined): string {
  if (!read) return `The type of its bytes is unknown: it may be damaged, encrypted, or its beginning may be missing.`;
  const text = read.text.trimStart();
  if (markup(text) === 'svg') {
    return 'It is an SVG drawing. Render it to PNG and send that.';
  }
  if (read.packed) return 'It is a gzip file. Unpack it and send the picture in it.';
  if (markup(text) === 'html') {
    return 'It is a web page (HTML), perhaps an error or log-in page in place of the picture. Use the URL of the picture itself.';
  }
  if (/^<\?xml|^<[a-z!]/i.test(text)) return 'It is an XML or HTML text. Send a picture.';
  if (/^[{[]/.test(text)) return 'It is JSON. Send the picture itself, or its base64 in the field meant for it.';
  if (/^data:/.test(text)) return 'It is a data URI as text. Send it as data, or send the bytes that it encodes.';
  return 'It is text. Send a picture.';
}
