import { scaledByChaos } from '@akin/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ask, FORM_BODY, postJson } from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';

const service = useService();
const C = '/api/cores/my-collection';
const RUNS = scaledByChaos(150);

const DOCUMENTS = [
  {
    id: '1',
    name: 'red shoe',
    n: 5,
    weight: 1.5,
    taken: '2024-01-31',
    sold: true,
    location: '48.1,11.5',
    labels: ['a', 'B'],
  },
  { id: '2', name: '100% "blue"', n: -7, weight: -1e308, taken: '0001-01-01', sold: false, location: '-90,180' },
  { id: '3', name: '東京都', n: 9007199254740991, weight: 5e-324, taken: '9999-12-31T23:59:59.999Z', labels: [] },
];

/** One of the words of a text, or of the others. */
const anyOf = (text: string, ...others: string[]) => fc.constantFrom(...text.trim().split(/\s+/), ...others);

const field = anyOf(`
  id name n weight taken sold location labels text image color_names copyspace color_palette_freq content_descriptor
  content_cluster content_rerank score geodist() * nothing
`);
/** At and beyond the limits of every type. */
const value = fc.oneof(
  anyOf(
    `0 1 -1 5 10 1.5 -0 1e308 1e309 -1e308 5e-324 9223372036854775807 -9223372036854775808 9223372036854775808
    99999999999999999999 2147483647 2147483648 NaN Infinity * % _ \\ " 2024-01-31 0001-01-01T00:00:00Z
    9999-12-31T23:59:59.999Z NOW NOW/DAY-9999YEARS +1DAY +1MILLISECOND +999999999YEARS -1DAY /DAY +0DAYS 48,11 90,180
    -90,-180 0,0 91,0 true a red ﷺ İ 🙂 count index all edge,outer before off Europe/Berlin GMT+99 1970`,
    ...['', ' ', '\0', '\u{10ffff}', 'x'.repeat(3_000)],
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const direction = fc.constantFrom('asc', 'desc');
const sort = fc
  .array(
    fc.oneof(
      fc.tuple(field, direction).map((parts) => parts.join(' ')),
      fc
        .tuple(field, fc.constantFrom('', ',min', ',max'), direction)
        .map(([name, which, way]) => `field(${name}${which}) ${way}`),
      fc
        .tuple(
          fc.constantFrom('geodist(90,180)', 'geodist(location,-90,0)', 'random9223372036854775808', 'random_0'),
          direction,
        )
        .map((parts) => parts.join(' ')),
    ),
    { maxLength: 5 },
  )
  .map((clauses) => clauses.join(','));

const parameter = fc.oneof(
  fc.tuple(anyOf('facet.field facet.range fl df terms.fl sfield'), field),
  fc.tuple(fc.constant('sort'), sort),
  ...[
    'facet.range.start facet.range.end facet.range.gap facet.range.other facet.range.include',
    'facet.limit facet.offset facet.mincount facet.sort facet.prefix facet.contains facet.missing',
    'rows start cursorMark pt d TZ timeAllowed minExactCount q.op facet.contains.ignoreCase',
    'rank.by.id rank.by.hex rank.threshold rank.mode rank.smartfilter rank.weights rank.by.outputs',
    'terms.limit terms.prefix terms.sort f.n.facet.range.gap f.labels.facet.limit facet.query fq q',
  ].map((names) => fc.tuple(anyOf(names), value)),
  fc.constantFrom<[string, string]>(
    ['fq', '{!geofilt}'],
    ['fq', '{!bbox}'],
    ['fl', 'id,geodist()'],
    ['cursorMark', '*'],
    ['facet.field', '{!terms=a,b,,c}labels'],
    ['facet.field', '{!key=x ex=t}n'],
    ['fq', '{!tag=t}n:[* TO *]'],
    ['facet.range', 'n'],
    ['facet.range', 'weight'],
    ['facet.range', 'taken'],
  ),
);

describe('any parameters of a search', () => {
  beforeAll(async () => {
    const stored = await postJson(service.gateway, `${C}/update?commit=true`, DOCUMENTS);
    expect(stored.status).toBe(200);
  });

  it('are answered, or refused with a reason', async () => {
    const seen = new Map<number, number>();
    // Until there are enough of both for the test to mean something.
    while (Math.min(seen.get(200) ?? 0, seen.get(400) ?? 0) <= RUNS / 50) {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('select', 'terms', 'tag', 'color', 'groups'),
          fc.array(parameter, { minLength: 1, maxLength: 8 }),
          async (endpoint, parameters) => {
            const body = new URLSearchParams([['facet', 'true'], ...parameters]).toString();
            const response = await ask(service.gateway, `${C}/${endpoint}`, { body, headers: FORM_BODY });
            seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
            expect([200, 400, 404, 405]).toContain(response.status);
          },
        ),
        { numRuns: RUNS },
      );
    }
  });
});
