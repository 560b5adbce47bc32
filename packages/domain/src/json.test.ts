import { growth, LINEAR } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AkinError } from './errors.ts';
import { isJsonArray, JsonNumber, JsonObject, type JsonValue, parseJson, parseLong } from './json.ts';
import { Double, stringifyJson } from './json-write.ts';

function failure(text: string, limits = {}): string {
  try {
    parseJson(text, limits);
  } catch (error) {
    expect(error).toBeInstanceOf(AkinError);
    expect((error as AkinError).code).toBe('bad-request');
    return (error as AkinError).message;
  }
  throw new Error(`was read: ${text.slice(0, 100)}`);
}

/** Converts a JsonValue to the result of `JSON.parse`. */
function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (value instanceof JsonObject) {
    const object = {};
    for (const [key, member] of value.entries) {
      Object.defineProperty(object, key, {
        value: plain(member),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return object;
  }
  return isJsonArray(value) ? value.map(plain) : value;
}

const jsonValues: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('\\', '"', 'u', '\0', '\ud800', '\udc00', '\n', 'é', '{', ']', ',') }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((long) => new JsonNumber(long.toString())),
    fc
      .stringMatching(/^-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,4})?$/)
      .map((text) => new JsonNumber(text)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.string({ maxLength: 3 }), tie('value')), { maxLength: 4 })
      .map((members) => new JsonObject(members)),
  ),
})).value;

describe('lossless JSON', () => {
  it('distinguishes 5 from 5.0 and keeps numbers as they were sent', () => {
    const value = parseJson('[5, 5.0, 1.10, 1E2, -0, 9007199254740993]') as JsonNumber[];
    expect(value.map((number) => number.text)).toEqual(['5', '5.0', '1.10', '1E2', '-0', '9007199254740993']);
    expect(value.map((number) => number.isLong())).toEqual([true, false, false, false, true, true]);
  });

  it('keeps repeated keys in order', () => {
    const object = parseJson('{"add":1,"delete":2,"add":3}') as JsonObject;
    expect(object.entries.map(([key]) => key)).toEqual(['add', 'delete', 'add']);
    expect(object.getAll('add')).toEqual([new JsonNumber('1'), new JsonNumber('3')]);
    expect(object.get('add')).toEqual(new JsonNumber('3'));
    expect(object.get('commit')).toBeUndefined();
  });

  it('treats the names of Object.prototype like any other key', () => {
    const object = parseJson('{"__proto__":1,"constructor":2}') as JsonObject;
    expect(object.get('__proto__')).toEqual(new JsonNumber('1'));
    expect(object.get('toString')).toBeUndefined();
  });

  it('tolerates a byte order mark and blanks around the value', () => {
    expect(parseJson('\ufeff \r\n\t[ ] ')).toEqual([]);
  });

  it('undoes every escape, lone surrogates and NUL included', () => {
    expect(parseJson('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"')).toBe('"\\/\b\f\n\r\té😀');
    expect(parseJson('"\\ud800\\u0000"')).toBe('\ud800\0');
  });

  it('reads the whole 64-bit range and nothing beyond', () => {
    for (const text of ['9223372036854775807', '-9223372036854775808']) {
      expect((parseJson(text) as JsonNumber).text).toBe(text);
      expect(parseLong(text)).toBe(BigInt(text));
    }
    expect(failure('{"a":9223372036854775808}')).toBe(
      'The JSON cannot be read at line 1, column 6: the integer 9223372036854775808 is beyond 64 bits; send it as a string, or as a decimal number.',
    );
    expect(failure('-9223372036854775809')).toContain('beyond 64 bits');
    expect(failure('1'.repeat(1_000_000)).length).toBeLessThan(300);
  });

  it('reads integers out of text', () => {
    expect(parseLong('007')).toBe(7n);
    expect(parseLong('-0')).toBe(0n);
    expect(parseLong(`${'0'.repeat(100)}1`)).toBe(1n);
    for (const text of ['', '-', '+1', '1.0', ' 1', '1 ', '9223372036854775808', '١'])
      expect(parseLong(text)).toBeNull();
  });

  it.each([
    ['', 'line 1, column 1: expected a JSON value, found the end.'],
    [' \n ', 'line 2, column 2: expected a JSON value, found the end.'],
    ['{"a":1,}', 'line 1, column 8: expected a key in double quotes after the comma, found }.'],
    ["{'a':1}", "line 1, column 2: expected a key in double quotes or }, found '."],
    ['{"a" 1}', 'line 1, column 6: expected a colon behind the key, found 1.'],
    ['{"a":\n tru}', 'line 2, column 2: expected a value behind the colon, found t.'],
    ['[1 2]', 'line 1, column 4: expected a comma or ], found 2.'],
    ['[1,]', 'line 1, column 4: expected a value after the comma, found ].'],
    ['[01]', 'line 1, column 3: expected a comma or ], found 1.'],
    ['[+1]', 'line 1, column 2: expected a value or ], found +.'],
    ['[-]', 'line 1, column 2: expected digits after the minus.'],
    ['[1.]', 'line 1, column 3: expected a comma or ], found ..'],
    ['NaN', 'line 1, column 1: expected a JSON value, found N.'],
    ['[1]\u00a0', 'line 1, column 4: expected nothing after the value, found U+00A0.'],
    ['[1] [2]', 'line 1, column 5: expected nothing after the value, found [.'],
    ['"abc', 'line 1, column 1: the string that begins here has no closing quote.'],
    ['"abc\\"', 'line 1, column 1: the string that begins here has no closing quote.'],
    ['["ok", "a\tb"]', 'line 1, column 10: the control character U+0009 must be escaped inside a string.'],
    ['"\\\\ a\nb"', 'line 1, column 6: the control character U+000A must be escaped inside a string.'],
    ['"\\\\\\x41"', 'line 1, column 4: "\\\\x" is not an escape that JSON knows.'],
    ['"\\u12g4"', 'line 1, column 2: "\\\\u" is not an escape that JSON knows.'],
    ['[1}', 'line 1, column 3: expected a comma or ], found }.'],
  ])('names the place and what was expected in %j', (text, message) => {
    expect(failure(text)).toBe(`The JSON cannot be read at ${message}`);
  });

  it('counts lines and columns from where the text begins', () => {
    expect(() => parseJson('[x]', {}, { line: 3, column: 10 })).toThrow('line 3, column 11');
    expect(() => parseJson('[\n\nx]', {}, { line: 3, column: 10 })).toThrow('line 5, column 1');
  });
});

describe('hostile JSON', () => {
  it('refuses deep nesting without overflowing the stack', () => {
    expect(parseJson(`${'['.repeat(64)}${']'.repeat(64)}`)).toBeDefined();
    expect(failure(`${'['.repeat(65)}${']'.repeat(65)}`)).toContain('at most 64 deep');
    expect(failure('['.repeat(5_000_000))).toContain('at most 64 deep');
    expect(failure('{"a":'.repeat(1_000_000))).toContain('at most 64 deep');
    expect(failure('[[1]]', { depth: 1 })).toContain('at most 1 deep');
  });

  it.each<[string, (length: number) => unknown]>([
    ['backslashes', (n) => failure(`"${'\\'.repeat(2 * n + 1)}"`)],
    ['backslashes of a text without end', (n) => failure(`["${'\\\\'.repeat(n)}`)],
    ['quotes', (n) => failure(`[${'"",'.repeat(n)}`)],
    ['blanks', (n) => failure(' '.repeat(4 * n))],
    ['texts and quotes in texts', (n) => parseJson(`[${'"a\\\\",'.repeat(n / 2)}"${'\\"'.repeat(n)}"]`)],
  ])('stays linear on %s without end', async (_, read) => {
    expect(await growth(read, 250_000)).toBeLessThan(LINEAR);
  });

  it('throws nothing but AkinError, whatever the text', () => {
    const texts = fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0019-+.eEtrufalsn \n\u0000é\ud800'), maxLength: 40 });
    fc.assert(
      fc.property(texts, (text) => {
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          failure(text);
          return;
        }
        // Both parsers return the same, except for integers beyond 64 bits.
        if (!/[0-9]{19}/.test(text)) expect(plain(parseJson(text))).toEqual(expected);
      }),
      { numRuns: 1_670.0 },
    );
  });
});

describe('writing JSON', () => {
  it('returns the tensors that were written', () => {
    fc.assert(
      fc.property(jsonValues, fc.constantFrom(0, 2), (value, indent) => {
        const text = stringifyJson(value, { indent });
        expect(parseJson(text)).toEqual(value);
        expect(plain(value)).toEqual(JSON.parse(text));
      }),
      { numRuns: 670.0 },
    );
  });

  it('keeps every digit of a Long and a Double apart from a Long', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (long) => {
        expect(parseLong((parseJson(stringifyJson(long)) as JsonNumber).text)).toBe(long);
      }),
    );
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (double) => {
        const number = parseJson(stringifyJson(new Double(double))) as JsonNumber;
        expect(number.isLong()).toBe(false);
        expect(Number(number.text)).toBe(double);
      }),
    );
    expect(stringifyJson([5, new Double(5), new Double(1e21), new Double(1e-7), new Double(-0)])).toBe(
      '[5,5.0,1e+21,1e-7,-0.0]',
    );
  });

  it('writes dates, maps and objects, and skips what is undefined', () => {
    const value = new Map<string, unknown>([
      ['day', new Date('2020-01-02T03:04:05.000Z')],
      ['instant', new Date('2020-01-02T03:04:05.120Z')],
      ['missing', undefined],
      ['object', { a: undefined, b: [undefined, Number.NaN, Number.POSITIVE_INFINITY, new Double(Number.NaN)] }],
      [
        'sent',
        new JsonObject([
          ['a', new JsonNumber('1.10')],
          ['a', null],
        ]),
      ],
      ['invalid', new Date(Number.NaN)],
    ]);
    expect(stringifyJson(value)).toBe(
      '{"day":"2020-01-02T03:04:05Z","instant":"2020-01-02T03:04:05.120Z","object":{"b":[null,null,null,null]},"sent":{"a":1.10,"a":null},"invalid":null}',
    );
  });

  it('indents as JSON.stringify does', () => {
    const value = { a: [1, { b: 'x' }], c: {}, d: [] };
    expect(stringifyJson(value, { indent: 2 })).toBe(JSON.stringify(value, null, 2));
  });
});
