import { AkinError } from '@akin/domain';

/**
 * Strict base64, except that spaces count as plus signs: forms turn one into the other. `name` says in the error which
 * output is wrong.
 */
export function decodeBase64(text: string, name: string, maxBytes: number): Buffer {
  if (text.length > Math.ceil(maxBytes / 3) * 4) {
    throw new AkinError('bad-request', `${name} has ${text.length} characters, far more than any akin makes.`);
  }
  const clean = text.includes(' ') ? text.replaceAll(' ', '+') : text;
  if (clean.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(clean)) {
    throw new AkinError('bad-request', `${name} is not base64. Send the outputs of an analysis as they came.`);
  }
  return Buffer.from(clean, 'base64');
}
