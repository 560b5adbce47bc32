import { AkinError, escapeQueryText, parseQuery, type Query } from '@akin/domain';
import fc from 'fast-check';

/** Fields of the shop of `search-shop.ts`, of every type. */
const FIELDS = [
  'id',
  'title',
  'category',
  'labels',
  'price',
  'weight',
  'sold',
  'taken',
  'location',
  'text',
  'image',
  'tint_names',
  'tint_free',
  'tint_freq',
  'tint_isolated',
  'shape_cluster',
  'shape_rerank',
  'shape_descriptor',
];

/** Numbers, dates and locations at and beyond the limits of their types, and unusual texts. */
const VALUES = [
  ...['0', '-0', '5', '-7', '1e5', '5.0', '.5', '1e-400', '1e308', '1e309', '-1.8e308', '5e-324', '٣', '1_000', '0x10'],
  ...['9223372036854775807', '9223372036854775808', '-9223372036854775809', '9'.repeat(400), `0.${'0'.repeat(390)}1`],
  ...[
    'true',
    'F',
    'NaN',
    'Infinity',
    '2024-01-31',
    '0001-01-01',
    '9999-12-31',
    '9999-12-31T23:59:59.999Z',
    '0000-01-01',
  ],
  ...[
    'NOW',
    'NOW/DAY+999999999YEARS',
    'NOW-2024YEARS',
    'NOW+1MONTH/YEAR',
    '9999-12-31T23:59:59Z/DAY',
    'NOW-999999999DAYS',
  ],
  ...[
    '48.1,11.5',
    '90,180',
    '-90,-180',
    '91,0',
    '0,0',
    'red',
    'Shoe',
    'shoe',
    'a_b',
    '100%',
    'wi-fi',
    "o'neil",
    '\\',
    '"',
  ],
  ...[
    '東京都',
    '東',
    '🙂',
    'ﷺ',
    '\u0301',
    '\u2028',
    '\ufeff',
    '\uffff',
    '\u{10ffff}',
    'ſ',
    'İ',
    '*',
    '?',
    '%',
    '_',
    ':',
    ':*',
  ],
  ...[
    'x'.repeat(41),
    'a'.repeat(3_000),
    '𞤢'.repeat(300),
    'ab '.repeat(30),
    'x\ty',
    ' ',
    '',
    "''",
    '&',
    '|',
    '!',
    '<->',
  ],
];

const LOCALS = [
  '{!words f=title}red shoe',
  '{!words f=labels q.op=OR v=""}',
  '{!term f=weight}1e400',
  '{!terms f=id}1,2,,3',
  '{!terms f=taken}2024-01-31,NOW',
  '{!field f=title}red shoe',
  '{!prefix f=category}',
  '{!prefix f=text v="?!"}',
  '{!geofilt pt=48,11 d=99e99}',
  '{!geofilt pt=90,180 d=0 score=degrees}',
  '{!geofilt pt=-90,0 d=20015.2 score=kilometers}',
  '{!bbox pt=0,180 d=1e-99}',
  '{!bbox pt=89.999,-180 d=1 filter=false score=miles}',
  '{!frange l=-9e99 u=9e99}geodist(0,0)',
  '{!frange}geodist(48,11)',
  '{!frange l=1 incl=false}price',
  '{!frange}text',
  '{!frange}labels',
  '{!frange l="" u=zzz}text',
  '{!func}geodist(1,1)',
  '{!lucene q.op=AND df=labels}red a_b',
  '_query_:"{!frange u=1}geodist(48.1,11.5)"',
];

const field = fc.constantFrom(...FIELDS);
const value = fc.oneof(
  { arbitrary: fc.constantFrom(...VALUES), weight: 8 },
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const escaped = value.map((text) => escapeQueryText(text.slice(0, 5_000)));
const quoted = value.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);
const bound = fc.oneof({ arbitrary: fc.constant('*'), weight: 2 }, { arbitrary: quoted, weight: 3 });
const named = fc.oneof(
  { arbitrary: field.map((name) => `${name}:`), weight: 5 },
  { arbitrary: fc.constant(''), weight: 2 },
);

const range = fc
  .tuple(fc.constantFrom('[', '{'), bound, bound, fc.constantFrom(']', '}'))
  .map(([open, low, high, close]) => `${open}${low} TO ${high}${close}`);
const pattern = fc
  .array(fc.oneof(escaped, fc.constantFrom('*', '?', '**', '*?')), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join(''));
const simple = fc.oneof(
  escaped,
  quoted,
  range,
  pattern,
  fc.constant('*'),
  fc.tuple(escaped, fc.constantFrom('~', '~0', '~1', '~2', '~0.1')).map((parts) => parts.join('')),
  fc.tuple(quoted, fc.constantFrom('~1', '~99999999999')).map((parts) => parts.join('')),
);
const boost = fc.constantFrom('', '', '', '^0', '^2', '^=0.1', `^1${'0'.repeat(15)}`, `^0.${'0'.repeat(14)}1`, '^=0');
const sign = fc.constantFrom('', '', '', '+', '-', '!', 'NOT ');

/**
 * Texts most of which are queries: every kind of clause, on every type of field, with values at and beyond the limits.
 */
export const anyQuery = fc.letrec<{ query: string; clause: string }>((tie) => ({
  query: fc
    .array(fc.tuple(sign, tie('clause'), boost, fc.constantFrom(' ', ' AND ', ' OR ', ' && ')), {
      minLength: 1,
      maxLength: 5,
    })
    .map((clauses) => clauses.map(([mark, one, more, glue], i) => `${i > 0 ? glue : ''}${mark}${one}${more}`).join('')),
  clause: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.tuple(named, simple).map((parts) => parts.join('')),
    fc.constantFrom('*:*', 'text:[* TO *]', '{* TO *}', ...LOCALS),
    fc.tuple(named, tie('query')).map(([name, inner]) => `${name}(${inner})`),
    tie('query').map((inner) => `filter(${inner})`),
    tie('query').map((inner) => `_query_:"${inner.replace(/["\\]/g, '\\$&')}"`),
  ),
})).query;

/** Undefined for a text that is not a query. */
export function parsed(text: string): Query | undefined {
  try {
    return parseQuery(text);
  } catch (error) {
    if (error instanceof AkinError && error.code === 'bad-request') return undefined;
    throw error;
  }
}
