import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { documentFromJson, documentToJson, type NewDocument } from './document.ts';
import { AkinError, type ErrorDetail } from './errors.ts';
import { JsonNumber, type JsonObject, parseJson } from './json.ts';
import { stringifyJson } from './json-write.ts';
import { applyModifiers } from './modifiers.ts';
import { type Field, type FieldType, type FieldValue, PRECONFIGURED_FIELDS, type Schema } from './schema.ts';
import { MAX_FIELDS, TypeClaims } from './type-claims.ts';
import { validateDocument } from './validate-document.ts';

const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(40, 7)]);

function schemaOf(types: Record<string, FieldType> = {}, claims = new TypeClaims()): Schema {
  const own: Field = { name: 'color_names', type: 'strings', origin: 'analysis', returnedByDefault: true };
  const fields = [...PRECONFIGURED_FIELDS, own].map((field): [string, Field] => [field.name, field]);
  for (const [name, type] of [...Object.entries(types), ...claims.newFields()]) {
    fields.push([name, { name, type, origin: 'document', returnedByDefault: true }]);
  }
  return new Map(fields);
}

function validate(body: unknown, schema = schemaOf(), claims = new TypeClaims(), position = 0) {
  const json = parseJson(typeof body === 'string' ? body : JSON.stringify(body));
  return validateDocument(json, position, schema, claims);
}

function accepted(body: unknown, schema = schemaOf(), claims = new TypeClaims()): NewDocument {
  const result = validate(body, schema, claims);
  if ('errors' in result) throw new Error(result.errors[0]?.msg);
  claims.add(result.newTypes);
  return result.document;
}

function refused(body: unknown, schema = schemaOf(), claims = new TypeClaims(), position = 0): readonly ErrorDetail[] {
  const before = claims.newFields();
  const result = validate(body, schema, claims, position);
  if (!('errors' in result)) throw new Error('it was accepted');
  expect(result.errors.length).toBeGreaterThan(0);
  expect(claims.newFields()).toEqual(before);
  return result.errors;
}

function problem(body: unknown, schema = schemaOf(), claims = new TypeClaims()): string {
  const errors = refused(body, schema, claims);
  expect(errors).toHaveLength(1);
  return errors[0]?.msg ?? '';
}

describe('a document that is right', () => {
  it('gets the types of its first values', () => {
    const claims = new TypeClaims();
    const document = accepted(
      '{"id":"a","n":5,"d":5.0,"b":true,"s":"x","t":"2020-01-02","z":"5","gone":null}',
      schemaOf(),
      claims,
    );
    expect(document.id).toBe('a');
    expect([...document.fields]).toEqual([
      ['n', 5n],
      ['d', 5],
      ['b', true],
      ['s', 'x'],
      ['t', new Date('2020-01-02')],
      ['z', '5'],
    ]);
    expect([...claims.newFields().values()]).toEqual(['long', 'double', 'boolean', 'string', 'date', 'string']);
  });

  it('fits its values into the fields that are there', () => {
    const schema = schemaOf({ price: 'double', size: 'string', count: 'long' });
    expect([...accepted('{"id":7,"price":5,"size":1.10,"count":"12"}', schema).fields]).toEqual([
      ['price', 5],
      ['size', '1.10'],
      ['count', 12n],
    ]);
    expect(accepted('{"id":7.0}').id).toBe('7.0');
  });

  it('has labels as an array, a lone string, or under a repeated key', () => {
    expect(accepted({ id: 'a', labels: ['x', 'y', 'x'] }).fields.get('labels')).toEqual(['x', 'y', 'x']);
    expect(accepted({ id: 'a', labels: 'x' }).fields.get('labels')).toEqual(['x']);
    expect(accepted('{"id":"a","labels":["x",null],"labels":"y","labels":["z"]}').fields.get('labels')).toEqual([
      'x',
      'y',
      'z',
    ]);
    for (const labels of [[], [null], null]) expect(accepted({ id: 'a', labels }).fields.has('labels')).toBe(false);
  });

  it('has lists of every type, if the fields were defined so', () => {
    const schema = schemaOf({ sizes: 'strings', views: 'longs', prices: 'doubles', days: 'dates' });
    const lists = '{"id":"a","sizes":["S",38,null],"views":["7",8],"prices":[1,2.5],"days":"2024-02-29"}';
    expect([...accepted(lists, schema).fields]).toEqual([
      ['sizes', ['S', '38']],
      ['views', [7n, 8n]],
      ['prices', [1, 2.5]],
      ['days', [new Date('2024-02-29')]],
    ]);
    expect(problem({ id: 'a', days: ['2024-02-30'] }, schema)).toContain('does not fit into a date');
    expect(problem({ id: 'a', sizes: [['S']] }, schema)).toContain('does not fit into a String');
    expect(problem({ id: 'a', views: Array(1_001).fill(1) }, schema)).toContain('1001 values, and 1000 is the limit');
    expect(problem({ id: 'a', new: { add: ['x'] } }, schema)).toContain('field=<name>:string[]');
    expect(problem({ id: 'a', new: { add: 'x' } }, schema)).toContain('"add" changes a list');
  });

  it('changes lists of every type', () => {
    const [day, later] = [new Date('2024-01-01'), new Date('2024-01-02')];
    const base = new Map<string, FieldValue>([
      ['days', [day, later, day]],
      ['views', [1n, 2n]],
    ]);
    const after = (update: object, schema = schemaOf({ days: 'dates', views: 'longs', sizes: 'strings' })) => {
      const { fields, modifiers } = accepted({ id: 'a', ...update }, schema);
      return Object.fromEntries(applyModifiers(base, fields, modifiers ?? new Map()));
    };
    expect(after({ days: { remove: '2024-01-01' }, views: { add: [2, '3'] } })).toEqual({
      days: [later],
      views: [1n, 2n, 2n, 3n],
    });
    const distinct = { 'add-distinct': ['2024-01-02', '2024-01-03', '2024-01-03T00:00:00Z'] };
    expect(after({ days: distinct, views: { set: null }, sizes: { add: 'S' } })).toEqual({
      days: [day, later, day, new Date('2024-01-03')],
      sizes: ['S'],
    });
    expect(after({ views: { remove: [1, 2] } })).toEqual({ days: [day, later, day] });
  });

  it("may contain akin's own fields, which are not stored but reported", () => {
    const result = validate({ id: 'a', score: 1, collapsed: 2, color_names: ['red'], text: null });
    expect(result).toMatchObject({
      warnings: [
        `The field "score" is akin's own: what was sent for it is not stored.`,
        `The field "collapsed" is akin's own: what was sent for it is not stored.`,
        `The field "color_names" is akin's own: what was sent for it is not stored.`,
      ],
    });
    expect('document' in result && result.document.fields.size).toBe(0);
  });

  it('keeps strings that look like dates, with a warning', () => {
    const schema = schemaOf({ note: 'string' });
    const result = validate({ id: 'a', day: '01.02.2024', note: 'Jan 31, 2024', title: 'red' }, schema);
    expect(result).toMatchObject({
      warnings: [expect.stringContaining('"day"'), expect.stringContaining('"note"')],
      document: {
        fields: new Map([
          ['day', '01.02.2024'],
          ['note', 'Jan 31, 2024'],
          ['title', 'red'],
        ]),
      },
    });
  });

  it('clears fields that are null beside modifiers', () => {
    const schema = schemaOf({ sale: 'double', n: 'long' });
    const sent = { id: 'a', sale: null, labels: null, gone: null, text: null, color_names: null, n: { inc: 1 } };
    const result = validate(sent, schema);
    if ('errors' in result) throw new Error('refused');
    expect([...(result.document.modifiers ?? [])].map(([name, [one]]) => [name, one?.name, one?.coerced])).toEqual([
      ['n', 'inc', 1n],
      ['sale', 'set', undefined],
      ['labels', 'set', undefined],
    ]);
    expect(result.warnings).toEqual([expect.stringContaining('"sale"'), expect.stringContaining('"labels"')]);
    expect(accepted({ id: 'a', sale: null }, schema).modifiers).toBeUndefined();
  });

  it('has an image by URL, or any text for one with an import', () => {
    for (const image of ['http://a.b/c.jpg', 'HTTPS://[::1]:8080/ä?b=c#d', 'http://a.b/c d.jpg']) {
      expect(accepted({ id: 'a', image: ` ${image}\n` }).fields.get('image')).toBe(image);
    }
    const document = accepted({ id: 'a', image: 'C:\\pictures\\a.jpg', import: '{"color_cluster":1}' });
    expect(document.fields.get('image')).toBe('C:\\pictures\\a.jpg');
    expect(document.import).toBe('{"color_cluster":1}');
    expect(document.fields.has('import')).toBe(false);
  });

  it('takes an import sent as an object without losing a digit, and by its older name', () => {
    expect(accepted('{"id":"a","import":{"color_rerank": 9007199254740993, "x": 1.10}}').import).toBe(
      '{"color_rerank":9007199254740993,"x":1.10}',
    );
    expect(accepted({ id: 'a', pxl_import: '{}' }).import).toBe('{}');
  });

  it('brings a thumbnail as base64 or data URI', () => {
    const base64 = PNG.toString('base64');
    for (const thumbnail of [base64, `data:image/webp;base64,${base64}`]) {
      expect(Buffer.from(accepted({ id: 'a', import: '{}', thumbnail }).thumbnail ?? [])).toEqual(PNG);
    }
  });
});

describe('a document that is wrong', () => {
  it('is reported with its position, id, field, type and value', () => {
    const errors = refused(
      { id: 'shoe', price: 'cheap', when: ['2020'] },
      schemaOf({ price: 'double' }),
      new TypeClaims(),
      3,
    );
    expect(errors).toEqual([
      {
        position: 3,
        id: 'shoe',
        code: 'bad-request',
        msg: 'Document "shoe" at position 3: field "price": "cheap" (a String) does not fit into a Double.',
      },
      {
        position: 3,
        id: 'shoe',
        code: 'bad-request',
        msg: 'Document "shoe" at position 3: field "when": an array was sent, and it takes one value; for several values, define the field as a list first (POST …/schema with field=<name>:string[], or import with --field), or change it: akin reindex --field <name>:string[].',
      },
    ]);
  });

  it.each<[string, string]>([
    ['{}', 'Document at position 0: the field "id" is required.'],
    ['{"id":""}', 'Document at position 0: "id": An id must not be empty.'],
    ['{"id":"a","id":"b"}', 'Document at position 0: "id": it is given twice, and takes one value.'],
    ['[]', 'The document at position 0 must be a JSON object, not an array.'],
    ['{"id":"a","text":"x"}', 'the field "text" cannot be sent: akin fills it with the words of all strings.'],
    ['{"id":"a","x":1,"x":2}', 'field "x": it is given twice, and takes one value.'],
    ['{"id":"a","x":{"sett":5}}', '"sett" is not one of the modifiers set, add, add-distinct, remove, inc.'],
    ['{"id":"a","labels":{"a":1}}', 'field "labels": an object was sent, and "a" is not one of the modifiers'],
    ['{"id":"a","location":"91,0"}', 'field "location": "91,0" (a String) does not fit into a location'],
    ['{"id":"a","image":"/home/a.jpg"}', 'field "image": "/home/a.jpg" (a String) is not an http or https URL'],
    ['{"id":"a","image":"file:///a.jpg"}', 'akin import --picture-column --pictures'],
    ['{"id":"a","image":"","import":"{}"}', 'field "image": it must not be empty'],
    ['{"id":"a","n":{"inc":1,"Set":2}}', '"Set" is not one of the modifiers'],
    ['{"id":"a","import":""}', '"import": it must be the JSON string that an analysis answers as "outputs".'],
    ['{"id":"a","import":"{}","pxl_import":"{}"}', '"import": it is given twice'],
    ['{"id":"a","import":"\\u0000"}', '"import": it contains the character NUL (U+0000), which cannot be stored.'],
    [
      '{"id":"a","s":"\\u0000"}',
      'field "s": "\\u0000" (a String) contains the character NUL (U+0000), which cannot be stored.',
    ],
    ['{"id":"a","labels":["\\ud800"]}', 'contains half of a surrogate pair, which cannot be stored.'],
    ['{"id":"a","x\\u0000":1}', 'field "x\\u0000": a field name must not contain control characters'],
    ['{"id":"a","":1}', 'field "": a field name must not be empty.'],
    ['{"id":"a","x":1e999}', 'field "x": 1e999 (a Double) is beyond the range of a Double.'],
    ['{"id":"a","thumbnail":"%%%%"}', '"thumbnail": The image data is not base64'],
    ['{"id":"a","thumbnail":"PHN2Zz4="}', '"thumbnail": A thumbnail must be a WebP, JPEG or PNG.'],
  ])('such as %.60s', (body, message) => {
    expect(problem(body)).toContain(message);
  });

  it('limits the number of reported problems', () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, []]));
    expect(refused({ id: 'a', ...body })).toHaveLength(100);
  });
});

describe('what the storage could not hold is refused', () => {
  it('more text than 500 kB', () => {
    expect(accepted({ id: 'a', s: 'x '.repeat(249_000) }).id).toBe('a');
    const [error] = refused({ id: 'a', s: 'x'.repeat(250_000), t: 'é'.repeat(126_000) });
    expect(error?.code).toBe('too-large');
    expect(error?.msg).toContain('its strings have 502001 bytes together');
  });

  it('more different words than an index entry takes', () => {
    let seed = 1;
    const next = () => {
      seed = (seed * 48_271) % 0x7fffffff;
      return String.fromCodePoint(0x4e00 + (seed % 20_000));
    };
    const chinese = Array.from({ length: 150_000 }, next).join('');
    expect(accepted({ id: 'a', s: chinese.slice(0, 20_000) }).id).toBe('a');
    expect(problem({ id: 'a', s: chinese })).toContain('too many different words');
  });

  it('more than 10,000 labels', () => {
    const labels = Array.from({ length: 10_000 }, () => '');
    expect(accepted({ id: 'a', labels }).id).toBe('a');
    expect(problem({ id: 'a', labels: [...labels, ''] })).toContain(
      'field "labels": it has 10001 values, and 10000 is the limit',
    );
  });

  it('more values than a row takes', () => {
    const values = (count: number, value: unknown) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, value]));
    expect(accepted({ id: 'a', ...values(850, 1) }).fields.size).toBe(850);
    expect(problem({ id: 'a', ...values(900, 1) })).toContain('it has too many values (900)');
    expect(accepted({ id: 'a', ...values(290, 'a string of more than 24 bytes') }).fields.size).toBe(290);
    expect(problem({ id: 'a', ...values(300, 'a string of more than 24 bytes') })).toContain('too many values (300)');
  });
});

describe('the types that a request gives', () => {
  it('are decided by its first document', () => {
    const claims = new TypeClaims();
    accepted({ id: 'a', price: 5.5 }, schemaOf(), claims);
    expect(accepted({ id: 'b', price: 5 }, schemaOf(), claims).fields.get('price')).toBe(5);
    expect(problem({ id: 'c', price: 'x' }, schemaOf(), claims)).toContain('does not fit into a Double');
    expect(claims.newFields()).toEqual(new Map([['price', 'double']]));
  });

  it('are not decided by a refused document, nor by null', () => {
    const claims = new TypeClaims();
    refused({ id: 'a', price: 5, bad: [] }, schemaOf(), claims);
    accepted({ id: 'b', price: null }, schemaOf(), claims);
    accepted({ id: 'c', price: 'five' }, schemaOf(), claims);
    expect(claims.typeOf('price')).toBe('string');
  });

  it("are at most 1,000 for each collection, without akin's own", () => {
    const types = Object.fromEntries(
      Array.from({ length: MAX_FIELDS - 1 }, (_, at): [string, FieldType] => [`f${at}`, 'long']),
    );
    const claims = new TypeClaims();
    accepted({ id: 'a', last: 1 }, schemaOf(types), claims);
    accepted({ id: 'b', last: 2, f0: 3 }, schemaOf(types), claims);
    expect(problem({ id: 'c', onemore: 1 }, schemaOf(types), claims)).toContain(
      'with its new fields the collection would have more than 1000 fields, which is the limit',
    );
  });
});

describe('accepted documents as text', () => {
  it('come back the same under the schema that their request made', () => {
    const values = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.boolean(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((long) => new JsonNumber(String(long))),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => new JsonNumber(double.toExponential())),
      fc.constantFrom('2020-01-02', '2020-01-02T03:04:05.678+01', null),
    );
    const bodies = fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 10 }), values, { maxKeys: 8 });
    fc.assert(
      fc.property(bodies, fc.boolean(), (fields, withExtras) => {
        const extras = withExtras
          ? {
              labels: ['x', 'y'],
              location: '1.50,2',
              image: 'http://a/b',
              import: '{"a":"\\u0000"}',
              thumbnail: PNG.toString('base64'),
            }
          : {};
        const claims = new TypeClaims();
        const result = validate(stringifyJson({ ...fields, ...extras, id: 'a' }), schemaOf(), claims);
        if ('errors' in result) return;
        claims.add(result.newTypes);
        const text = documentToJson(result.document);
        const schema = schemaOf({}, claims);
        const again = documentFromJson(text, schema);
        expect({ ...again, thumbnail: undefined }).toEqual({ ...result.document, thumbnail: undefined });
        expect(Buffer.from(again.thumbnail ?? [])).toEqual(Buffer.from(result.document.thumbnail ?? []));
        expect(documentToJson(again)).toBe(text);
        expect(documentToJson(accepted(text, schema))).toBe(text);
      }),
    );
  });

  it('keep the text of a number for a schema in which its field became a String', () => {
    const text = documentToJson(accepted('{"id":"a","size":1.10,"when":"2020-01-02","n":12}'));
    expect(text).toBe('{"id":"a","size":1.10,"when":"2020-01-02","n":12}');
    const schema = schemaOf({ size: 'string', when: 'string', n: 'double' });
    expect([...documentFromJson(text, schema).fields.values()]).toEqual(['1.10', '2020-01-02', 12]);
    expect(() => documentFromJson(text, schemaOf({ size: 'boolean', when: 'string', n: 'long' }))).toThrow(
      'does not fit',
    );
  });
});

describe('hostile documents', () => {
  it('make validation throw nothing', () => {
    const known = ['id', 'labels', 'image', 'import', 'thumbnail', 'text', 'location', 'score'];
    const names = fc.constantFrom(...known, '__proto__', 'x', '\0');
    const values = fc.oneof(
      fc.json({ stringUnit: 'binary', maxDepth: 2 }),
      fc.constantFrom('"http://a"', '1e999', '"\\ud800"', '9007199254740993', '""', '[null]'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values), { maxLength: 8 }), (members) => {
        const body = `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
        let json: JsonObject;
        try {
          json = parseJson(body) as JsonObject;
        } catch (error) {
          expect(error).toBeInstanceOf(AkinError);
          return;
        }
        const result = validateDocument(json, 0, schemaOf({ x: 'long' }), new TypeClaims());
        if ('errors' in result) for (const error of result.errors) expect(error.msg.length).toBeLessThan(500);
      }),
      { numRuns: 1_000.0 },
    );
  });
});
