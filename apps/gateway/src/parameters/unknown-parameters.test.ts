import { ENDPOINTS, type Endpoint, type EndpointName } from '@akin/contract';
import { describe, expect, it } from '@jest/globals';
import { readQueryString } from './parameters.ts';
import { explainUnknown, findUnknown } from './unknown-parameters.ts';

const explain = (name: EndpointName, query: string, fields: readonly string[] = []) => {
  const endpoint: Endpoint = ENDPOINTS[name];
  return explainUnknown(findUnknown(endpoint, readQueryString(query, 5_000)), endpoint, new Set(fields));
};
const meant = (sent: string, name: string) => [
  `Parameter ${sent} is unknown here and was ignored. Did you mean ${name}?`,
];

describe('an unknown parameter', () => {
  it.each([
    ['select', 'limit=5', 'rows'],
    ['select', 'offset=5', 'start'],
    ['select', 'row=5', 'rows'],
    ['select', 'ROWS=5', 'rows'],
    ['select', 'cursormark=*', 'cursorMark'],
    ['select', 'Q=red', 'q'],
    ['select', 'fqs=a:b', 'fq'],
    ['select', 'filter_by=a:b', 'fq'],
    ['image', 'min_score=0.5', 'rank.threshold'],
    ['image', 'score_threshold=0.5', 'rank.threshold'],
    ['image', 'top_k=1', 'rows'],
    ['select', 'k=1', 'rows'],
    ['select', 'query_by=a', 'df'],
    ['select', 'facet_by=a', 'facet.field'],
    ['tag', 'lf=a', undefined],
    ['select', 'facet.feild=labels', 'facet.field'],
    ['image', 'rank_by_id=7', 'rank.by.id'],
    ['image', 'rankById=7', 'rank.by.id'],
    ['image', 'url=http://a.example/b.jpg', 'rank.by.url'],
    ['analyze', 'url=http://a.example/b.jpg', 'input.url'],
    ['analyze', 'module.apply=color', 'modules.apply'],
    ['tag', 'url=http://a.example/b.jpg', 'tagging.input.url'],
    ['tag', 'tagging.tresh=0.5', undefined],
    ['image', 'region=0,0,1,0.5', 'rank.region'],
    ['analyze', 'region=0,0,1,0.5', 'input.region'],
    ['tag', 'crop=0,0,1,0.5', 'tagging.input.region'],
    ['terms', 'terms.limits=5', 'terms.limit'],
    ['terms', 'limit=5', 'terms.limit'],
    ['groups', 'cursorMark=x', 'cursor'],
    ['groups', 'start=20', 'cursor'],
    ['groups', 'q=category:home', 'fq'],
    ['tag', 'q=category:home', 'fq'],
    ['operations', 'q=category:home', undefined],
    ['operations', 'rows=5', 'limit'],
    ['update', 'comit=true', 'commit'],
    ['update', 'commit_within=5', 'commitWithin'],
    ['createKey', 'scop=admin', 'scope'],
  ] as const)('of /%s: %s', (name, query, expected) => {
    expect(explain(name, query)).toEqual(expected === undefined ? [] : meant(query.split('=')[0] as string, expected));
  });

  it.each(['amp;fq', '?fq', 'fq%5B%5D', 'fq{0}', 'fq(0)', 'fq［0］', 'fq:a', 'amp;filter_by'])(
    'with characters of a URL that was put together wrongly: %s',
    (sent) => {
      expect(explain('select', `${encodeURIComponent(sent)}=a:b`)).toEqual(meant(JSON.stringify(sent), 'fq'));
    },
  );

  it('with the name of a field means a filter', () => {
    expect(explain('select', 'category=home', ['category'])).toEqual(meant('category', 'fq=category:home'));
    expect(explain('select', 'my+field=red+shoe+(new)', ['my field'])).toEqual(
      meant('"my field"', 'fq=my\\ field:red\\ shoe\\ \\(new\\)'),
    );
    expect(explain('select', 'limit=5', ['limit'])).toEqual(meant('limit', 'fq=limit:5'));
    expect(explain('select', `category=${'x'.repeat(100)}&price=`, ['category', 'price'])).toEqual([
      ...meant('category', 'fq=category:…'),
      ...meant('price', 'fq=price:…'),
    ]);
  });

  it.each([
    'x=1',
    'utm_source=mail',
    '_=1700000000',
    'session=abc',
    'version=2.2&debugQuery=on&debug=true&distrib=false&shards.tolerant=true',
    'f.labels.facet.limit=5&facet.method=enum&facet.pivot.mincount=1&hl.fl=a&group.field=b&stats.field=c',
    'terms.mincount=1&q.alt=a&qf=b&mm=1&sow=true&lowercaseOperators=true&useParams=x',
    '__proto__=1&constructor=1&toString=1&hasOwnProperty=1',
    'fq={!term f=id v=$row}&row=7',
    'q=geodist($point,1,2)&point=1',
  ])('that resembles nothing, or does no harm, gets no warning: %s', (query) => {
    expect(explain('select', query, ['labels'])).toEqual([]);
  });

  it.each(['overwrite=true&waitFlush=true&expungeDeletes=false&maxSegments=1&min_rf=1&_version_=0&versions=true'])(
    'of updates gets no warning: %s',
    (query) => expect(explain('update', query)).toEqual([]),
  );

  it('is reported in a limited number of warnings of limited length', () => {
    const odd = ['rows\u0000', 'r\u202eows', 'row\u{1f600}', `rows${'s'.repeat(1_000)}`, 'ROW\n<b>'];
    const many = Array.from(
      { length: 2_000 },
      (_, i) => `row${String.fromCharCode(97 + (i % 26))}${i > 25 ? i : ''}=1`,
    );
    const query = [...odd.map((name) => `${encodeURIComponent(name)}=1`), ...many].join('&');
    const warnings = explain('select', query);
    expect(warnings).toHaveLength(11);
    expect(warnings.at(-1)).toMatch(/^\d+ more unknown parameters were ignored\.$/);
    for (const warning of warnings) {
      expect(warning.length).toBeLessThan(200);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be in a warning
      expect(warning).not.toMatch(/[\u0000-\u001f\u202e]/);
    }
  });
});
