import { describe, expect, it } from '@jest/globals';
import { readJsonLines, stringifyJson } from './index.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
async function read(chunks: readonly Uint8Array[]): Promise<string[]> {
  const found: string[] = [];
  async function* source() {
    yield* chunks;
  }
  for await (const one of readJsonLines(source())) {
    found.push('error' in one ? one.error.message : `${one.line} ${stringifyJson(one.value)}`);
  }
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

  it('that are not JSON have an error with their number, and those after them are read', async () => {
    const odd = await read([bytes('{}\n\n{"a":}\n'), Uint8Array.of(0xff, 0x0a), bytes('{"a":1} {"b":2}\n[1]')]);
    expect(odd).toEqual([
      '1 {}',
      expect.stringContaining('at line 3, column 6'),
      expect.stringContaining('Line 4 is not UTF-8'),
      expect.stringContaining('line 5'),
      '6 [1]',
    ]);
    const large = Array.from({ length: 20 }, () => new Uint8Array(1024 * 1024).fill(0x20));
    const tooLong = expect.stringContaining('Line 2 has more');
    expect(await read([bytes('{}\n'), ...large])).toEqual(['1 {}', tooLong]);
    expect(await read([bytes('{}\n'), ...large, bytes('\n[2]')])).toEqual(['1 {}', tooLong, '3 [2]']);
  });
});
