import { growth, LINEAR } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AkinError } from './errors.ts';
import { JsonNumber, JsonObject, type JsonValue, parseJson } from './json.ts';
import { type JsonItem, type JsonStreamLimits, readJsonStream } from './json-stream.ts';
import { stringifyJson } from './json-write.ts';

const ARRAYS: JsonStreamLimits = { objects: 'whole' };
const COMMANDS: JsonStreamLimits = { objects: 'members' };

async function* chunksOf(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? bytes.length;
    const chunk = bytes.slice(at, at + size);
    yield chunk;
    // The sender may reuse the memory of a chunk.
    chunk.fill(0x78);
    at += size;
  }
}

async function read(body: string | Uint8Array, limits = ARRAYS, sizes: readonly number[] = []): Promise<JsonItem[]> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const items: JsonItem[] = [];
  for await (const item of readJsonStream(chunksOf(bytes, sizes), limits)) items.push(item);
  return items;
}

/** Returns the error for a body, which must be the same for all ways to split it into chunks. */
async function failure(body: string | Uint8Array, limits = ARRAYS): Promise<AkinError> {
  const errors: AkinError[] = [];
  for (const sizes of [[], [1], [3]]) {
    const error = await read(body, limits, sizes).then(
      () => null,
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(AkinError);
    errors.push(error);
  }
  expect(errors[1]?.message).toBe(errors[0]?.message);
  expect(errors[2]?.message).toBe(errors[0]?.message);
  return errors[0] as AkinError;
}

const trees: fc.Arbitrary<JsonValue> = fc
  .json({ stringUnit: 'binary', maxDepth: 4 })
  .map((text) => parseJson(text.replace(/(?<=[[,:]|^)-?[0-9]{19,}(?=[\],}]|$)/g, '1')));
/** Strings that contain structural characters. */
const traps = fc.string({ unit: fc.constantFrom('\\', '"', '{', '}', '[', ']', ',', '\n', 'é', '\ud800') });
const values: fc.Arbitrary<JsonValue> = fc.oneof(trees, traps, fc.array(traps, { maxLength: 3 }));

describe('a JSON body as a stream', () => {
  it('gives the elements of an array, wherever the chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(values, { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 5 }),
        fc.constantFrom(0, 2),
        async (elements, sizes, indent) => {
          const items = await read(stringifyJson(elements, { indent }), ARRAYS, sizes);
          expect(items).toEqual(elements.map((value, position) => ({ kind: 'element', position, value })));
        },
      ),
    );
  });

  it('gives the members of an object in order, wherever the chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.string({ unit: 'binary', maxLength: 5 }), values), { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 5 }),
        async (members, sizes) => {
          const body = stringifyJson(new JsonObject(members));
          expect(await read(body, COMMANDS, sizes)).toEqual(
            members.map(([key, value], position) => ({ kind: 'member', position, key, value })),
          );
          expect(await read(body, ARRAYS, sizes)).toEqual([{ kind: 'object', position: 0, value: parseJson(body) }]);
        },
      ),
    );
  });

  it('reads a command map with repeated keys', async () => {
    const items = await read(
      '{"add":{"doc":{"id":"a"}}, "delete":["b"], "add":{"doc":{"id":"c"}}, "commit":{}}',
      COMMANDS,
    );
    expect(items.map((item) => item.kind === 'member' && item.key)).toEqual(['add', 'delete', 'add', 'commit']);
  });

  it('distinguishes an empty body from an empty array and an empty object', async () => {
    for (const body of ['', ' \r\n\t', '\ufeff', '\ufeff \n']) {
      expect(await read(body, ARRAYS, [1])).toEqual([{ kind: 'empty' }]);
      expect(await read(body, COMMANDS)).toEqual([{ kind: 'empty' }]);
    }
    expect(await read('[]')).toEqual([]);
    expect(await read('{}', COMMANDS)).toEqual([]);
    expect(await read(' {} ')).toEqual([{ kind: 'object', position: 0, value: new JsonObject([]) }]);
  });

  it('tolerates a byte order mark, cut or not', async () => {
    expect(await read('\ufeff[1]', ARRAYS, [1])).toEqual([
      { kind: 'element', position: 0, value: new JsonNumber('1') },
    ]);
    expect(await read('\ufeff[1]')).toHaveLength(1);
  });

  it('leaves out an element that is too large, and reads the others', async () => {
    const limits: JsonStreamLimits = { valueBytes: 100, objects: 'whole' };
    const large = [{ text: ']},"[' }, `\\"${'x'.repeat(99)}`].map((value) =>
      JSON.stringify([value, ['x'.repeat(50)]], null, 40),
    );
    for (const sizes of [[], [1], [7]]) {
      const [first, oversized, ...rest] = await read(`[1, ${large.join(', ')}\n, 3]`, limits, sizes);
      expect(first).toMatchObject({ kind: 'element', position: 0 });
      const error = (oversized as Extract<JsonItem, { kind: 'oversized' }>).error;
      expect(error.code).toBe('too-large');
      expect(error.message).toContain(
        'The element at position 1, which begins at line 1, column 5, has more than 100 bytes',
      );
      expect(error.details).toEqual([{ position: 1, code: 'too-large', msg: error.message }]);
      expect(rest).toMatchObject([
        { kind: 'oversized', position: 2 },
        { kind: 'element', position: 3 },
      ]);
    }
    expect((await failure(`[${large[0]},\n x]`, limits)).message).toContain('line 9, column 2');
    expect((await failure(`[${large[0]?.slice(0, -1)}`, limits)).message).toContain('the body ends inside the element');
  });

  it('bounds each value and names the one that is too large', async () => {
    const limits: JsonStreamLimits = { valueBytes: 100, objects: 'members' };
    const fits = `{"id":"${'x'.repeat(91)}"}`;
    expect(fits).toHaveLength(100);
    expect(await read(`[${`${fits},`.repeat(50)}1]`, limits, [7])).toHaveLength(51);
    expect((await failure(`{"add":${fits.replace('x', 'xx')}}`, limits)).message).toContain('The value of "add"');
    expect((await failure(`{"${'k'.repeat(99)}":1}`, limits)).message).toContain('The key');
    expect((await failure(fits.replace('x', 'xx'), { valueBytes: 100, objects: 'whole' })).message).toContain(
      'The object',
    );
  });

  it.each([
    ['[1,2', 'line 1, column 4: the body ends inside the element at position 1 that begins here.'],
    ['[1, ', 'line 1, column 5: expected a value after the comma, found the end of the body.'],
    ['[{"a":"b', 'line 1, column 2: the body ends inside the element at position 0 that begins here.'],
    ['{"a":1', 'line 1, column 1: the body ends inside the object that begins here.'],
    ['[1] 2', 'line 1, column 5: expected nothing after the end of the body, found 2.'],
    ['{}{}', 'line 1, column 3: expected nothing after the end of the body, found {.'],
    ['["a"}', 'line 1, column 5: expected a comma or ], found }.'],
    ['[{"a":1]', 'line 1, column 8: expected a comma or }, found ].'],
    [
      '[\n  {"a":1},\n  {"é":1, b:2}\n]',
      'line 3, column 11: expected a key in double quotes after the comma, found b.',
    ],
    ['[["é\\n",\n1],  x]', 'line 2, column 6: expected a JSON value, found x.'],
    ['"text"', 'line 1, column 1: expected an array or an object, found ".'],
    ['<add/>', 'line 1, column 1: expected an array or an object, found <.'],
    ['[\u00a01]', 'line 1, column 2: expected a value or ], found the byte 0xC2.'],
  ])('names the place and what was expected in %j', async (body, message) => {
    expect((await failure(body)).message).toBe(`The JSON cannot be read at ${message}`);
  });

  it.each([
    ['{"a":1', 'line 1, column 6: the body ends inside the value of "a" that begins here.'],
    ['{"a', 'line 1, column 2: the body ends inside the key that begins here.'],
    ['{"a"', 'line 1, column 5: expected a colon behind the key, found the end of the body.'],
    ['{"a":', 'line 1, column 6: expected a value behind the colon, found the end of the body.'],
    ['{"a":1,', 'line 1, column 8: expected a key in double quotes after the comma, found the end of the body.'],
    ['{"a":1,}', 'line 1, column 8: expected a key in double quotes after the comma, found }.'],
    ['{"a":1]', 'line 1, column 7: expected a comma or }, found ].'],
    ['{"a":}', 'line 1, column 6: expected a value behind the colon, found }.'],
  ])('names the place and what was expected in the command map %j', async (body, message) => {
    expect((await failure(body, COMMANDS)).message).toBe(`The JSON cannot be read at ${message}`);
  });

  it.each([
    ['a byte that no sequence begins with', [0x22, 0xff, 0x22]],
    ['a sequence that ends early', [0x22, 0xe2, 0x82, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['a surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ])('refuses %s', async (_name, bytes) => {
    const body = new Uint8Array([0x5b, 0x31, 0x2c, ...bytes, 0x5d]);
    expect((await failure(body)).message).toContain(
      'column 4: the element at position 1 that begins here is not UTF-8',
    );
  });

  it('refuses UTF-16 and half a byte order mark', async () => {
    expect((await failure(new Uint8Array([0xff, 0xfe, 0x5b, 0x00]))).message).toContain('found the byte 0xFF');
    expect((await failure(new Uint8Array([0x5b, 0x00, 0x5d, 0x00]))).message).toContain('found U+0000');
    expect((await failure(new Uint8Array([0xef, 0xbb]))).code).toBe('bad-request');
    expect((await failure(new Uint8Array([0xef, 0x5b]))).message).toContain('not UTF-8');
  });

  it('throws nothing but AkinError and agrees with parseJson on every text', async () => {
    const texts = fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0019-.etrufalsn \né'), maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.constantFrom('[', '{', ''),
        fc.integer({ min: 1, max: 9 }),
        async (text, open, size) => {
          const body = open + text + (open === '[' ? ']' : open === '{' ? '}' : '');
          let whole: JsonValue | undefined;
          try {
            whole = parseJson(body);
          } catch (error) {
            expect(error).toBeInstanceOf(AkinError);
          }
          if (!Array.isArray(whole) && !(whole instanceof JsonObject)) {
            if (body.trim() !== '') await failure(body, COMMANDS);
            return;
          }
          const items = await read(body, COMMANDS, [size]);
          if (Array.isArray(whole)) expect(items.map((item) => 'value' in item && item.value)).toEqual(whole);
          else expect(items.map((item) => item.kind === 'member' && [item.key, item.value])).toEqual(whole.entries);
        },
      ),
      { numRuns: 670.0 },
    );
  });

  it('takes a value sent byte by byte in little memory and time', async () => {
    const readOne = async (length: number) => {
      const body = new TextEncoder().encode(`[{"id":"${'é'.repeat(length)}"}]`);
      expect(await read(body, ARRAYS, [1])).toHaveLength(1);
    };
    expect(await growth(readOne, 12_500)).toBeLessThan(LINEAR);
  });
});
