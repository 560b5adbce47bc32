import type { SearchResponse } from '@akin/client';
import { describe, expect, it } from '@jest/globals';
import {
  type FacetField,
  facetCountRequest,
  facetFieldsOf,
  facetsOf,
  filterOf,
  filterText,
  joinFilters,
} from './facets.ts';
import { searchRequest, type ViewState } from './view-state.ts';

const FIELDS: FacetField[] = [
  { name: 'labels', multiValued: true },
  { name: 'kind of: thing', multiValued: false },
  { name: 'sold', multiValued: false },
];
const state = (change: Partial<ViewState> = {}): ViewState => ({
  collection: 'my-collection',
  view: 'search',
  mode: 'content',
  query: null,
  examples: [],
  minScore: 0,
  words: '',
  filters: [],
  sort: '',
  opened: null,
  ...change,
});
const thing = (value: string) => filterOf('kind of: thing', value);

describe('the title of a field', () => {
  it('is its name, whatever that is', () => {
    const filters = ['constructor', 'toString', 'price_per_kg'].map((name) => filterText(filterOf(name, 'x')));
    expect(filters).toEqual(['Constructor: x', 'ToString: x', 'Price per kg: x']);
  });
});

describe('the fields for filters', () => {
  it('are labels, colours, and Strings and Booleans of documents, up to a useful number', () => {
    const field = (name: string, type = 'string', origin = 'document') => ({ name, type, origin, multiValued: false });
    const fields = facetFieldsOf([
      field('id', 'string', 'preconfigured'),
      { ...field('labels', 'string', 'preconfigured'), multiValued: true },
      field('color_isolated', 'boolean', 'analysis'),
      field('content_descriptor', 'string', 'analysis'),
      field('price', 'double'),
      field('sold', 'boolean'),
      field('file_drive_missing', 'boolean'),
      ...Array.from({ length: 20 }, (_, i) => field(`f${i}`)),
      field('missing', 'boolean'),
    ]);
    expect(fields.map(({ name }) => name)).toEqual([
      'labels',
      'missing',
      'sold',
      'f0',
      'f1',
      'f2',
      'f3',
      'f4',
      'f5',
      'color_isolated',
    ]);
    expect(fields[0]).toEqual({ name: 'labels', multiValued: true });
  });
});

describe('filters', () => {
  it('keep names and values unchanged', () => {
    expect(thing('a "b" \\c')).toBe('kind\\ of\\:\\ thing:"a \\"b\\" \\\\c"');
  });

  it('of one single-valued field are combined, all others stay separate', () => {
    const filters = [thing('a'), 'labels:"x"', thing('b'), 'labels:"y"', 'price:[1 TO 2]'];
    expect(joinFilters(filters, FIELDS)).toEqual([
      'labels:"x"',
      'labels:"y"',
      'price:[1 TO 2]',
      'kind\\ of\\:\\ thing:("a" OR "b")',
    ]);
    expect(joinFilters(filters, [])).toEqual(filters);
  });
});

describe('counts', () => {
  it('ignore the filter of a single-valued field, and nothing else', () => {
    const { endpoint, parameters } = facetCountRequest(
      state({ words: 'red', filters: [thing('a'), 'labels:"x"'] }),
      FIELDS,
    );
    expect(endpoint).toBe('select');
    expect(parameters).toMatchObject({
      q: 'red',
      rows: 0,
      fq: ['labels:"x"', '{!tag=f1}kind\\ of\\:\\ thing:"a"'],
      'facet.field': ['{!key=f0}labels', '{!key=f1 ex=f1}kind of: thing', '{!key=f2}sold'],
    });
  });

  it('count what the ranking shows: pictures, or copies', () => {
    const query = { by: 'id', id: '7' } as const;
    expect(facetCountRequest(state({ query }), FIELDS).parameters.fq).toEqual(['content_descriptor:*']);
    expect(facetCountRequest(state({ query: { by: 'hex', hex: '#fff' } }), FIELDS).parameters.fq).toEqual([
      'color_descriptor:*',
    ]);
    const { endpoint, parameters } = facetCountRequest(state({ query, mode: 'duplicate' }), FIELDS);
    expect([endpoint, parameters['rank.by.id'], parameters.fq]).toEqual(['duplicate', ['7'], []]);
  });
});

it('searches for values of a field with any characters', () => {
  const wanted = new Map([
    ['labels', "o'b\\c "],
    ['sold', ''],
  ]);
  expect(facetCountRequest(state(), FIELDS, [], wanted).parameters['facet.field']).toEqual([
    "{!key=f0 facet.limit=100 facet.contains='o\\'b\\\\c' facet.contains.ignoreCase=true}labels",
    '{!key=f1}kind of: thing',
    '{!key=f2 facet.limit=100}sold',
  ]);
});

it('counts only related results if a ranking is sorted by something else', () => {
  const query = { by: 'id', id: '7' } as const;
  const { endpoint, parameters } = facetCountRequest(state({ query, sort: 'price asc' }), FIELDS);
  expect([endpoint, parameters['rank.threshold']]).toEqual(['image', 0.3]);
  expect(searchRequest(state({ query, sort: 'price asc' }), 0, 9).parameters).toMatchObject({
    sort: 'price asc',
    'rank.threshold': 0.3,
  });
  expect(searchRequest(state({ query, sort: 'price asc', minScore: 0.8 }), 0, 9).parameters['rank.threshold']).toBe(
    0.8,
  );
  expect(searchRequest(state({ sort: 'price asc' }), 0, 9).parameters).toEqual({ rows: 9, sort: 'price asc' });
});

describe('groups', () => {
  const responseWith = (numFound: number, fields: Record<string, (string | number)[]>): SearchResponse => ({
    responseHeader: { status: 0, QTime: 1 },
    response: { numFound, start: 0, numFoundExact: true, docs: [] },
    facet_counts: { facet_queries: {}, facet_fields: fields, facet_ranges: {} },
  });
  const names = (found: SearchResponse, filters: string[] = []) =>
    facetsOf(found, FIELDS, filters).map(({ name }) => name);

  it('are those that divide the results', () => {
    const [group] = facetsOf(responseWith(10, { f0: ['red', 6, 'blue', 4] }), FIELDS, []);
    expect(group).toEqual({
      name: 'labels',
      multiValued: true,
      values: [
        { value: 'red', count: 6 },
        { value: 'blue', count: 4 },
      ],
    });
    expect(names(responseWith(10, { f2: ['true', 10] }))).toEqual([]);
    expect(names(responseWith(10, { f2: ['true', 9] }))).toEqual(['sold']);
    expect(names(responseWith(1000, { f1: ['a', 9, 'b', 8] }))).toEqual([]);
    expect(names(responseWith(4, { f1: ['a', 1, 'b', 1, 'c', 1, 'd', 1] }))).toEqual([]);
    expect(names(responseWith(0, {}))).toEqual([]);
    const missing = (body: SearchResponse) => facetsOf(body, [{ name: 'missing', multiValued: false }], []).length;
    expect([['true', 1], []].map((counts) => missing(responseWith(1000, { f0: counts })))).toEqual([1, 0]);
  });

  it('stay visible if a value is chosen, so that it can be removed', () => {
    expect(names(responseWith(0, {}), [thing('a')])).toEqual(['kind of: thing']);
    expect(names(responseWith(0, {}), ['labels:[a TO b]'])).toEqual([]);
  });
});

it.each([
  [filterOf('labels', 'studio headphones'), 'Labels: studio headphones'],
  [filterOf('kind of: thing', 'a "b" \\ c'), 'Kind of: thing: a "b" \\ c'],
  [filterOf('color_isolated', 'true'), 'Plain background: yes'],
  [filterOf('brand', ''), 'Brand: (empty)'],
  ['price:[1 TO 5]', 'Price: 1 to 5'],
  ['price:[* TO 5]', 'Price: up to 5'],
  ['price:{1 TO 5]', 'price:{1 TO 5]'],
  ['{!geofilt sfield=location pt=53.27,-9.05 d=25}', 'Within 25 km of 53.27, -9.05'],
  ['labels:mint OR labels:"x"', 'labels:mint OR labels:"x"'],
])('shows the filter %s as %s', (filter, text) => {
  expect(filterText(filter)).toBe(text);
});
