import { describe, expect, it } from '@jest/globals';
import { readJsonLines, stringifyJson } from './index.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
async function read(chunks: readonly Uint8Array[]): Promise<string[]> {
  const found: string[] = [];
  async function* source() {
    yield* chunks;
  }
  for await (const { line, value } of readJsonLines(source())) found.push(`${line} ${stringifyJson(value)}`);
  return found;
}

describe('lines of JSON', () => {
  it('are read for any split into chunks, with blank lines and both line endings, and a last line without one', async () => {
    const text = '\ufeff{"id":"ü😀"}\r\n\n  \t\r\n{"n":12345678901234567890.0}\n[1]';
    const expected = ['1 {"id":"ü😀"}', '4 {"n":12345678901234567890.0}', '5 [1]'];
    const whole = bytes(text);
    expect(await read([whole])).toEqual(expected);
    for (let at = 0; at <= whole.length; at++) {
      expect(await read([whole.subarray(0, at), whole.subarray(at)])).toEqual(expected);
    }
    expect(await read([])).toEqual([]);
  });

  it('are refused with their number', async () => {
    await expect(read([bytes('{}\n\n{"a":}\n')])).rejects.toThrow('at line 3, column 6');
    await expect(read([bytes('{}\n'), Uint8Array.of(0xff, 0x0a)])).rejects.toThrow('Line 2 is not UTF-8');
    await expect(read([bytes('{}\n{"a":1} {"b":2}')])).rejects.toThrow('line 2');
    const large = Array.from({ length: 9 }, () => new Uint8Array(1024 * 1024).fill(0x20));
    await expect(read([bytes('{}\n'), ...large])).rejects.toMatchObject({
      code: 'too-large',
      message: expect.stringContaining('Line 2 has more'),
    });
  });
});
