import { badRequest } from '@akin/domain';

/**
 * Decodes strict base64, except that spaces count as plus signs, because forms replace these. `name` names the output
 * in the error.
 */
export function decodeBase64(text: string, name: string, maxBytes: number): Buffer {
  if (text.length > Math.ceil(maxBytes / 3) * 4) {
    throw badRequest(`${name} has ${text.length} characters, far more than any akin makes.`);
  }
  const clean = text.includes(' ') ? text.replaceAll(' ', '+') : text;
  const padding = clean.endsWith('==') ? 2 : clean.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(clean, 'base64');
  // Node skips characters that are not base64, so the result would be shorter; but it also accepts base64url.
  const whole = clean.length % 4 === 0 && bytes.length === (clean.length / 4) * 3 - padding;
  if (!whole || clean.includes('-') || clean.includes('_')) {
    throw badRequest(`${name} is not base64. Send the outputs of an analysis as they came.`);
  }
  return bytes;
}
