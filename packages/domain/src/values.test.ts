import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatDate, parseDate } from './dates.ts';
import { AkinError } from './errors.ts';
import { parseId } from './ids.ts';
import { JsonNumber, JsonObject, type JsonValue, parseJson } from './json.ts';
import { formatLocation, parseLocation } from './location.ts';
import { fieldNameProblem, isCollectionName } from './names.ts';
import type { FieldType } from './schema.ts';
import { quote, unstorableReason, utf8Length } from './text.ts';
import { coerceValue, deriveType } from './values.ts';

const SINGLE: readonly FieldType[] = ['boolean', 'long', 'double', 'date', 'string', 'location', 'text'];
const TYPES: readonly FieldType[] = [...SINGLE, 'strings', 'longs', 'doubles'];

function number(text: string): JsonNumber {
  return new JsonNumber(text);
}

function typeMismatch(type: FieldType, value: JsonValue): string {
  try {
    coerceValue(type, value);
  } catch (error) {
    expect(error).toBeInstanceOf(AkinError);
    expect((error as AkinError).code).toBe('bad-request');
    return (error as AkinError).message;
  }
  throw new Error('it fits');
}

describe('dates', () => {
  it.each([
    ['2020-01-02', '2020-01-02T00:00:00Z'],
    ['2020-01-02T03:04', '2020-01-02T03:04:00Z'],
    ['2020-01-02T03:04Z', '2020-01-02T03:04:00Z'],
    ['2020-01-02T03:04:05.1Z', '2020-01-02T03:04:05.100Z'],
    ['2020-01-02T03:04:05.123456789Z', '2020-01-02T03:04:05.123Z'],
    ['2020-01-02T03:04:05+02', '2020-01-02T01:04:05Z'],
    ['2020-01-02T03:04:05-0530', '2020-01-02T08:34:05Z'],
    ['2020-01-02T03:04+05:45', '2020-01-01T21:19:00Z'],
    ['0001-01-01', '0001-01-01T00:00:00Z'],
    ['0099-12-31T23:59:59', '0099-12-31T23:59:59Z'],
    ['9999-12-31T23:59:59.999999999', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, instant) => {
    expect(formatDate(parseDate(text) as Date)).toBe(instant);
  });

  it.each([
    ...['2023-02-30', '2023-02-29', '2023-13-01', '2023-04-31', '0000-01-01', '1900-02-29', '2020-1-2', '20200102'],
    ...['2020-01-02T24:00', '2020-01-02T23:59:60', '2020-01-02T12', '2020-01-02 12:00', '2020-01-02Z', '+2020-01-02'],
    ...['2020-01-02T12:00+24', '2020-01-02T12:00.5', '2020-01-02T12:00:00.1234567890', '2020-01-02T12:00:00z'],
    ...['0001-01-01T00:00+01', '9999-12-31T23:59:59-01', ' 2020-01-02', '2020-01-02\n', '２０２０-01-02', '', 'NOW'],
  ])('%j is none', (text) => {
    expect(parseDate(text)).toBeNull();
  });

  it('come back as they were formatted', () => {
    const instants = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(fc.property(instants, (date) => expect(parseDate(formatDate(date))).toEqual(date)));
  });

  it('agree with Date on every calendar day', () => {
    const days = fc.tuple(
      fc.integer({ min: 1, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
    );
    fc.assert(
      fc.property(days, ([year, month, day]) => {
        const text = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
        const engine = new Date(`${text}T00:00:00Z`);
        const exists = !Number.isNaN(engine.getTime()) && engine.toISOString().startsWith(text);
        expect(parseDate(text)).toEqual(exists ? engine : null);
      }),
      { numRuns: 670.0 },
    );
  });
});

describe('the type of a new field', () => {
  it.each([
    ['true', 'boolean'],
    ['5', 'long'],
    ['-0', 'long'],
    ['5.0', 'double'],
    ['1e3', 'double'],
    ['"2020-01-02"', 'date'],
    ['"2020-02-30"', 'string'],
    ['"5"', 'string'],
    ['null', null],
    ['[]', null],
    ['{}', null],
  ])('of %s is %s', (text, type) => {
    expect(deriveType(parseJson(text))).toBe(type);
  });
});

describe('values in typed fields', () => {
  it('accept values of their own type', () => {
    expect(coerceValue('boolean', false)).toBe(false);
    expect(coerceValue('long', number('-9223372036854775808'))).toBe(-(2n ** 63n));
    expect(coerceValue('double', number('1.5e3'))).toBe(1500);
    expect(coerceValue('double', number('-0.0'))).toBe(-0);
    expect(coerceValue('date', '2020-01-02')).toEqual(new Date('2020-01-02'));
    expect(coerceValue('string', 'x')).toBe('x');
    expect(coerceValue('strings', ['a', null, 'b'])).toEqual(['a', 'b']);
    expect(coerceValue('longs', [number('1'), number('2')])).toEqual([1n, 2n]);
    expect(coerceValue('doubles', [number('0.5')])).toEqual([0.5]);
    expect(coerceValue('location', '52.5,13.4')).toEqual({ lat: 52.5, lon: 13.4 });
  });

  it('take a Long as a Double only when exact', () => {
    expect(coerceValue('double', number('9007199254740992'))).toBe(2 ** 53);
    expect(coerceValue('double', number('4611686018427387904'))).toBe(2 ** 62);
    expect(typeMismatch('double', number('9007199254740993'))).toBe(
      '9007199254740993 (a Long) would lose digits in a Double; send it with a decimal point if that is meant',
    );
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (long) => {
        if (BigInt(Number(long)) === long) expect(coerceValue('double', number(String(long)))).toBe(Number(long));
        else typeMismatch('double', number(String(long)));
      }),
    );
  });

  it('never take a Double as a Long', () => {
    expect(typeMismatch('long', number('5.0'))).toMatch(
      /^5\.0 \(a Double\) does not fit into a Long \(an integer of 64 bits\); for decimals, define the field as double first .* akin reindex --field <name>:double$/,
    );
    expect(typeMismatch('long', '49.90')).toContain('define the field as double');
    expect(typeMismatch('long', 'red')).toBe('"red" (a String) does not fit into a Long (an integer of 64 bits)');
    typeMismatch('long', number('1e3'));
  });

  it('take numbers and booleans as strings with their text as it was sent', () => {
    expect(coerceValue('string', number('1.10'))).toBe('1.10');
    expect(coerceValue('string', number('1E2'))).toBe('1E2');
    expect(coerceValue('string', true)).toBe('true');
    expect(coerceValue('strings', [number('5'), false])).toEqual(['5', 'false']);
    expect(coerceValue('strings', 'alone')).toEqual(['alone']);
  });

  it('accept strings that are completely such a value', () => {
    expect(coerceValue('long', '-12')).toBe(-12n);
    expect(coerceValue('long', '007')).toBe(7n);
    expect(coerceValue('double', '12')).toBe(12);
    expect(coerceValue('double', '-1.5E-3')).toBe(-0.0015);
    expect(coerceValue('boolean', 'true')).toBe(true);
  });

  it.each<[FieldType, JsonValue]>([
    ['long', ''],
    ['long', '+12'],
    ['long', '12.0'],
    ['long', '9223372036854775808'],
    ['long', true],
    ['double', '1.'],
    ['double', '007'],
    ['double', 'NaN'],
    ['double', '9007199254740993'],
    ['double', new JsonNumber('1e999')],
    ['boolean', 'True'],
    ['boolean', new JsonNumber('1')],
    ['date', '2023-02-30'],
    ['date', new JsonNumber('2023')],
    ['string', null],
    ['string', ['a']],
    ['string', new JsonObject([])],
    ['string', 'a\0b'],
    ['strings', ['a', ['b']]],
    ['location', '91,0'],
    ['text', 'x'],
  ])('a %s refuses %j', (type, value) => {
    expect(typeMismatch(type, value).length).toBeLessThan(250);
  });

  it('throw nothing but AkinError, with a short message, whatever the value', () => {
    const strings = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'0123456789-+.eE:TZ,\0\ud800') }),
    );
    const scalars = fc.oneof(
      strings,
      fc.constantFrom(null, true, false, new JsonObject([])),
      fc.stringMatching(/^-?(0|[1-9]\d{0,25})(\.\d{1,9})?([eE][+-]?\d{1,4})?$/).map(number),
    );
    fc.assert(
      fc.property(fc.constantFrom(...TYPES), fc.oneof(scalars, fc.array(scalars)), (type, value: JsonValue) => {
        try {
          coerceValue(type, value);
        } catch (error) {
          expect(error).toBeInstanceOf(AkinError);
        }
      }),
      { numRuns: 1_670.0 },
    );
    expect(typeMismatch('long', 'x'.repeat(1_000_000)).length).toBeLessThan(200);
    expect(typeMismatch('double', '9'.repeat(1_000_000)).length).toBeLessThan(200);
    expect(typeMismatch('long', '9'.repeat(1_000_000)).length).toBeLessThan(200);
  });
});

describe('locations', () => {
  it.each([
    ['52.5,13.4', 52.5, 13.4],
    ['-90,180', -90, 180],
    [' 1.0 , -2. ', 1, -2],
    ['.5,+1e-7', 0.5, 1e-7],
    ['-0,-0', 0, 0],
  ])('%j is a place', (text, lat, lon) => {
    expect(parseLocation(text)).toEqual({ lat, lon });
  });

  it.each(['', '1', '1,2,3', '90.1,0', 'a,b', '1e999,0', '0x1,2', '1 1,2', `1,${'1'.repeat(300)}`])(
    '%j is none',
    (text) => {
      expect(parseLocation(text)).toBeNull();
    },
  );

  it('come back as they were formatted', () => {
    const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true }).map((value) => value + 0);
    fc.assert(
      fc.property(degrees(90), degrees(180), (lat, lon) => {
        expect(parseLocation(formatLocation({ lat, lon }))).toEqual({ lat, lon });
      }),
    );
  });
});

describe('ids', () => {
  it('are any text, and numbers as their text', () => {
    for (const id of ['a', ' ', 'https://example.com/a?b=c#d', '日本', '👍🏽', 'a\nb', '"*:*"'])
      expect(parseId(id)).toBe(id);
    expect(parseId(number('5'))).toBe('5');
    expect(parseId(number('5.0'))).toBe('5.0');
    expect(parseId('é'.repeat(256))).toHaveLength(256);
  });

  it.each<JsonValue>(['', 'é'.repeat(257), 'x'.repeat(513), 'a\0', '\ud800', true, null, ['a'], new JsonObject([])])(
    'refuse %j',
    (value) => {
      expect(() => parseId(value)).toThrow(AkinError);
    },
  );
});

describe('names', () => {
  it('of collections are plain', () => {
    for (const name of ['a', 'my-collection', '0.1_x', 'x'.repeat(100)]) expect(isCollectionName(name)).toBe(true);
    for (const name of ['', '.', '..', '-a', '_a', 'a b', 'a/b', 'é', 'x'.repeat(101), 'a\n'])
      expect(isCollectionName(name)).toBe(false);
  });

  it('of fields are any text without control characters', () => {
    for (const name of ['a', ' ', 'Preis in €', '__proto__', '👍'.repeat(128), 'a"b\\c', "'; drop table x"]) {
      expect(fieldNameProblem(name)).toBeNull();
    }
    for (const name of ['', 'a\nb', '\0', '\u0085', 'a\u2028', '\ud800', 'x'.repeat(129), '👍'.repeat(129)]) {
      expect(fieldNameProblem(name)).not.toBeNull();
    }
  });
});

describe('texts', () => {
  it('have as many bytes as their encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) =>
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length),
      ),
    );
    expect(utf8Length('aé€😀')).toBe(10);
  });

  it('are quoted when short or long', () => {
    expect(quote('a"b')).toBe('"a\\"b"');
    expect(quote('x'.repeat(60))).toBe(`"${'x'.repeat(60)}"`);
    expect(quote('😀'.repeat(61))).toBe(`"${'😀'.repeat(60)}…"`);
    expect(unstorableReason('😀')).toBeNull();
  });
});
