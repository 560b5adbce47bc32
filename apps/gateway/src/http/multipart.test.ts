import { describe, expect, it } from '@jest/globals';
import { readMultipart } from './multipart.ts';

const TYPE = 'multipart/form-data; boundary=b';
const LIMITS = { parts: 10, check: () => {} };

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const withPart = (headers: string, length: number) =>
  `--b\r\n${headers}\r\n\r\n${'A'.repeat(length)}\r\n--b\r\nContent-Disposition: form-data; name="rows"\r\n\r\n0\r\n--b--\r\n`;

describe('a multipart body', () => {
  it.each([
    ['without a header that names it', 'X: y'],
    ['of another kind', 'Content-Disposition: attachment; name="x"'],
    ['whose name has line breaks', 'Content-Disposition: form-data; name="a%0Ab"'],
  ])('is read to its end after a large part %s', async (_, headers) => {
    for (const length of [0, 100, 16_383, 16_384, 70_000, 300_000]) {
      for (const size of [1_000, 16_384, 65_536, 1_000_000]) {
        const parts = await readMultipart(TYPE, inPieces(withPart(headers, length), size), LIMITS, signal());
        expect(parts.map(({ name }) => name)).toContain('rows');
      }
    }
  });

  it('is no longer waited for when its request has ended', async () => {
    const gone = new AbortController();
    async function* never(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('--b\r\n');
      await new Promise(() => {});
    }
    const parts = readMultipart(TYPE, never(), LIMITS, gone.signal);
    gone.abort(new Error('gone'));
    await expect(parts).rejects.toMatchObject({ cause: { message: 'gone' } });
  });
});

function signal(): AbortSignal {
  return new AbortController().signal;
}
