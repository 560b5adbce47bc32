import { AkinError, badRequest } from './errors.ts';

/**
 * Decodes a picture that was sent as text: base64, base64url or a data URI of any type. Repairs damage that is common
 * in forms and URLs: `+` replaced by a blank, line breaks, missing padding.
 * @throws AkinError `bad-request` when it is not base64, `too-large` (before decoding) over `maxBytes`.
 */
export function decodeBase64(text: string, maxBytes: number): Uint8Array {
  // Line breaks and the prefix of a data URI are short: a text of three times the limit is too large in any case.
  if (text.length > maxBytes * 3 + 1000) throw imageTooLarge(maxBytes);
  const plain = decodePlain(text, maxBytes);
  if (plain !== undefined) return plain;
  const base64 = repair(dataOf(text.trimStart()));
  const digits = base64.replace(/={1,2}$/, '');
  const invalid = /[^A-Za-z0-9+/_-]/.exec(digits);
  if (invalid) {
    throw badRequest(
      `The image data is not base64: character ${invalid.index + 1} of it does not belong to base64. Encode the bytes of the image file as base64.`,
    );
  }
  if (digits.length === 0) throw badRequest('The image data is empty. Send the image file as base64.');
  if (digits.length % 4 === 1) {
    throw badRequest('The image data is incomplete base64: it was cut. Send all of it.');
  }
  if (Math.floor((digits.length * 3) / 4) > maxBytes) throw imageTooLarge(maxBytes);
  return Buffer.from(digits, 'base64');
}

/** Decodes valid base64, the usual case, without repairs, which take several times as long as decoding. */
function decodePlain(text: string, maxBytes: number): Uint8Array | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const length = (text.length / 4) * 3 - padding;
  if (text === '' || text.length % 4 !== 0 || length > maxBytes) return undefined;
  const bytes = Buffer.from(text, 'base64');
  // Node skips characters that are not base64, so the result is then shorter.
  return bytes.length === length ? bytes : undefined;
}

/** The text after the comma of a data URI; any other text is returned unchanged. */
function dataOf(text: string): string {
  if (!/^data:/i.test(text)) return text;
  const comma = text.indexOf(',');
  if (comma < 0 || !/;\s*base64\s*$/i.test(text.slice(0, Math.min(comma, 1000)))) {
    throw badRequest('The data URI does not hold base64: it must look like data:image/jpeg;base64,…');
  }
  return text.slice(comma + 1);
}

function repair(text: string): string {
  const whole = text
    .replace(/%(2B|2F|3D|0D|0A|20)/gi, (code) => decodeURIComponent(code))
    .replace(/[\r\n\t]+/g, '')
    .replace(/(?<==) +$/, '');
  // A blank was a plus. But if the length is impossible for base64, the blanks at the end were only blanks.
  const end = whole.trimEnd();
  return (whole.length % 4 === 1 ? end : whole).replaceAll(' ', '+');
}

export function imageTooLarge(maxBytes: number): AkinError {
  return new AkinError(
    'too-large',
    `The image has more than ${Number((maxBytes / 1_000_000).toFixed(1))} MB, which is the limit. Send a smaller version.`,
  );
}
