import { AkinError } from './errors.ts';

/**
 * Decodes a picture that came as text: base64, base64url or a data URI, whatever type that declares. Forgives what
 * happens to base64 on its way through forms and addresses: `+` turned into a blank, line breaks, padding lost.
 * @throws AkinError `bad-request` when it is not base64, `too-large` (before decoding) over `maxBytes`.
 */
export function decodeBase64(text: string, maxBytes: number): Uint8Array {
  // Line breaks and a data URI's head add little; twice the size cannot be within the limit.
  if (text.length > maxBytes * 3 + 1000) throw imageTooLarge(maxBytes);
  const plain = decodePlain(text, maxBytes);
  if (plain !== undefined) return plain;
  const base64 = repair(dataOf(text.trimStart()));
  const digits = base64.replace(/={1,2}$/, '');
  const strange = /[^A-Za-z0-9+/_-]/.exec(digits);
  if (strange) {
    throw new AkinError(
      'bad-request',
      `The image data is not base64: character ${strange.index + 1} of it does not belong to base64. Encode the bytes of the image file as base64.`,
    );
  }
  if (digits.length === 0)
    throw new AkinError('bad-request', 'The image data is empty. Send the image file as base64.');
  if (digits.length % 4 === 1) {
    throw new AkinError('bad-request', 'The image data is incomplete base64: it was cut. Send all of it.');
  }
  if (Math.floor((digits.length * 3) / 4) > maxBytes) throw imageTooLarge(maxBytes);
  return Buffer.from(digits, 'base64');
}

/** Base64 to the letter, as nearly all is: the repairs cost several times what decoding does. */
function decodePlain(text: string, maxBytes: number): Uint8Array | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const length = (text.length / 4) * 3 - padding;
  if (text === '' || text.length % 4 !== 0 || length > maxBytes) return undefined;
  const bytes = Buffer.from(text, 'base64');
  // The engine skips what is not base64: less comes out then.
  return bytes.length === length ? bytes : undefined;
}

/** What follows the comma of a data URI; the text itself when it is none. */
function dataOf(text: string): string {
  if (!/^data:/i.test(text)) return text;
  const comma = text.indexOf(',');
  if (comma < 0 || !/;\s*base64\s*$/i.test(text.slice(0, Math.min(comma, 1000)))) {
    throw new AkinError('bad-request', 'The data URI does not hold base64: it must look like data:image/jpeg;base64,…');
  }
  return text.slice(comma + 1);
}

function repair(text: string): string {
  const whole = text
    .replace(/%(2B|2F|3D|0D|0A|20)/gi, (code) => decodeURIComponent(code))
    .replace(/[\r\n\t]+/g, '')
    .replace(/(?<==) +$/, '');
  // A blank was a plus; but where one more digit cannot be, the blanks at the end were only blanks.
  const end = whole.trimEnd();
  return (whole.length % 4 === 1 ? end : whole).replaceAll(' ', '+');
}

export function imageTooLarge(maxBytes: number): AkinError {
  return new AkinError(
    'too-large',
    `The image has more than ${Number((maxBytes / 1_000_000).toFixed(1))} MB, the most that is read. Send a smaller version.`,
  );
}
