import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FormReader, readQueryString } from './parameters.ts';

describe('parameters', () => {
  it('keeps order and repetitions', () => {
    expect(readQueryString('fq=a&q=x&fq=b', 10)).toEqual([
      ['fq', 'a'],
      ['q', 'x'],
      ['fq', 'b'],
    ]);
  });

  it('parses the forms of old clients: a leading ampersand, a pair without a value, raw brackets and colons', () => {
    expect(readQueryString('&rows=0&q*:*&fq=price:[1 TO *]', 10)).toEqual([
      ['rows', '0'],
      ['q*:*', ''],
      ['fq', 'price:[1 TO *]'],
    ]);
  });

  it('decodes escapes as UTF-8 and plus as a blank', () => {
    expect(readQueryString('q=a+b%20c%2Bd&k%C3%A4se=%F0%9F%91%9F', 10)).toEqual([
      ['q', 'a b c+d'],
      ['käse', '👟'],
    ]);
  });

  it('reads raw UTF-8 bytes in a URL', () => {
    expect(readQueryString(Buffer.from('q=käse').toString('latin1'), 10)).toEqual([['q', 'käse']]);
  });

  it('gives the same result however the bytes are split', () => {
    const bytes = Buffer.from('a=%F0%9F%91%9F%3D&b=1+2&c&=d&e=%C3%A4=x');
    const whole = new FormReader(10);
    whole.write(bytes);
    const expected = whole.end();
    expect(expected).toEqual([
      ['a', '👟='],
      ['b', '1 2'],
      ['c', ''],
      ['e', 'ä=x'],
    ]);
    for (let size = 1; size < 8; size++) {
      const reader = new FormReader(10);
      for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size));
      expect(reader.end()).toEqual(expected);
    }
  });

  it('reads any small form as it reads the same bytes one by one', () => {
    const piece = fc.constantFrom(
      '&',
      '=',
      '+',
      '%',
      '%2',
      '%2B',
      '%26',
      '%c3',
      '%a4',
      '%ed%a0%80',
      '%ef%bb%bf',
      'a',
      'ä',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), (pieces, most) => {
        const bytes = Buffer.from(pieces.join(''));
        const readIn = (size: number) => {
          const reader = new FormReader(most);
          try {
            for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size));
            return reader.end();
          } catch (error) {
            return (error as Error).message;
          }
        };
        expect(readIn(bytes.length || 1)).toEqual(readIn(1));
      }),
      { numRuns: 670.0 },
    );
  });

  it('refuses broken escapes, bytes that are not UTF-8 and too many parameters, naming the parameter', () => {
    expect(() => readQueryString('q=%zz', 10)).toThrow('The parameter "q" contains the escape %zz');
    expect(() => readQueryString('q=100%', 10)).toThrow('cut off');
    expect(() => readQueryString('fq=%ff', 10)).toThrow('The parameter "fq" contains bytes that are not UTF-8');
    expect(() => readQueryString('a&b&c', 2)).toThrow('More than 2 parameters');
  });

  it('shortens a long name in the error', () => {
    expect(() => readQueryString(`${'n'.repeat(100_000)}=%zz`, 10)).toThrow(
      `The parameter "${'n'.repeat(60)}…" contains the escape %zz: percent-encode it as UTF-8.`,
    );
  });
});
