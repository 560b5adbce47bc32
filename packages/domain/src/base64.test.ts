import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeBase64 } from './base64.ts';
import { AkinError, type ErrorCode } from './errors.ts';

const MAX = 100_000;

function refusal(text: string, maxBytes = MAX): { code: ErrorCode; message: string } {
  try {
    decodeBase64(text, maxBytes);
  } catch (error) {
    expect(error).toBeInstanceOf(AkinError);
    return error as AkinError;
  }
  throw new Error('It was decoded.');
}

const bytesOf = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes));

describe('decodeBase64', () => {
  it('reads base64, base64url and data URIs of any declared type, with and without padding', () => {
    fc.assert(
      fc.property(bytesOf, (bytes) => {
        const plain = bytes.toString('base64');
        for (const text of [
          plain,
          plain.replace(/=+$/, ''),
          bytes.toString('base64url'),
          `data:image/png;base64,${plain}`,
          `DATA:text/html;charset=utf-8;BASE64,${plain}`,
          `data:;base64,${plain}`,
          `data:image/jpeg;base64,${encodeURIComponent(plain)}`,
        ]) {
          expect(Buffer.compare(decodeBase64(text, MAX), bytes)).toBe(0);
        }
      }),
    );
  });

  it('repairs the damage of forms and mail: blanks for plus, line breaks, surrounding blanks', () => {
    fc.assert(
      fc.property(bytesOf, (bytes) => {
        // The first byte must not encode as a plus, so that the leading blanks are only blanks.
        const plain = Buffer.concat([Buffer.from([0xff]), bytes]).toString('base64');
        const lines = plain.replace(/.{20}/g, '$&\r\n');
        for (const text of [plain, lines, `\n  ${plain}`, plain.endsWith('=') ? `${plain}  \n` : plain]) {
          const expected = Buffer.from(plain, 'base64');
          expect(Buffer.compare(decodeBase64(text, MAX), expected)).toBe(0);
          if (!text.endsWith('  \n')) {
            expect(Buffer.compare(decodeBase64(text.replaceAll('+', ' '), MAX), expected)).toBe(0);
          }
        }
        if (!plain.endsWith('=')) expect(decodeBase64(`${plain} `, MAX)).toHaveLength(bytes.length + 1);
      }),
    );
  });

  it.each([
    ['', /empty/],
    ['data:image/png;base64,', /empty/],
    ['====', /not base64/],
    ['abc!defg', /character 4/],
    ['ab=cdefg', /character 3/],
    ['abcde', /cut/],
    ['https://example.org/a.jpg', /character 6/],
    ['data:image/png,abcd', /data URI/],
    ['data:image/png;base64', /data URI/],
    ['äöü', /character 1/],
    ['{"a":1}', /character 1/],
  ])('refuses %j with a reason', (text, message) => {
    const { code, message: text_ } = refusal(text);
    expect(code).toBe('bad-request');
    expect(text_).toMatch(message);
  });

  it('refuses what is over the limit by its length alone, and accepts what is just within', () => {
    expect(decodeBase64(Buffer.alloc(1000).toString('base64'), 1000)).toHaveLength(1000);
    expect(refusal(Buffer.alloc(1001).toString('base64'), 1000).code).toBe('too-large');
    expect(refusal('A'.repeat(50_000_000), 1000).code).toBe('too-large');
    expect(refusal('!'.repeat(50_000_000), 1000).code).toBe('too-large');
  });

  it('never repeats the data in its message', () => {
    expect(refusal(`${'SECRET'.repeat(10)}!`).message).not.toMatch(/SECRET/);
  });

  it('answers any text with bytes or a refusal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String(), fc.string()), (text) => {
        try {
          decodeBase64(text, MAX);
          decodeBase64(`data:${text}`, MAX);
        } catch (error) {
          expect(error).toBeInstanceOf(AkinError);
        }
      }),
      { numRuns: 170.0 },
    );
  });
});
