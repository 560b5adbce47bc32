import { Double, JsonNumber } from '@akin/domain';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { outputsOf } from '../../test/pictures.ts';
import { readSolrXml } from '../../test/solr-xml.ts';
import { ask, postJson, type TestRequest } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';
import { writeXml } from './write-xml.ts';

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

describe('a response in XML', () => {
  it('names values by their types', () => {
    const values = {
      text: 'a < b & "c"',
      none: null,
      left: undefined,
      yes: true,
      long: 9007199254740993n,
      int: -5,
      beyond: 2 ** 31,
      half: 0.5,
      whole: new Double(5),
      score: new Double(0.25),
      sent: new JsonNumber('1.50'),
      when: new Date(Date.UTC(2024, 0, 31)),
      empty: '',
      list: ['a', 1n, { deep: [] }],
      'a "name"\n': new Map([['k', 'v']]),
    };
    expect(writeXml(values, 0)).toBe(
      `${HEAD}<response><str name="text">a &lt; b &amp; "c"</str><null name="none"/><bool name="yes">true</bool>` +
        '<long name="long">9007199254740993</long><int name="int">-5</int><long name="beyond">2147483648</long>' +
        '<double name="half">0.5</double><double name="whole">5.0</double><float name="score">0.25</float>' +
        '<double name="sent">1.50</double><date name="when">2024-01-31T00:00:00Z</date><str name="empty"/>' +
        '<arr name="list"><str>a</str><long>1</long><lst><arr name="deep"/></lst></arr>' +
        '<lst name="a &#34;name&#34;&#10;"><str name="k">v</str></lst></response>\n',
    );
  });

  it('writes search results as <result>, and lists of names and values as lists', () => {
    const found = {
      responseHeader: { status: 0 },
      response: {
        numFound: 12,
        start: 0,
        maxScore: new Double(1),
        numFoundExact: true,
        docs: [
          new Map<string, unknown>([
            ['id', '1'],
            ['labels', ['a', 'b']],
          ]),
          new Map(),
        ],
      },
      facet_counts: {
        facet_fields: new Map([['labels', ['a', 2, null, 1]]]),
        facet_ranges: new Map([['price', { counts: ['0', 3], gap: 10n }]]),
      },
      terms: new Map([['rate', [new Double(2), 7, true, 1]]]),
    };
    expect(writeXml(found, 2)).toBe(`${HEAD}<response>
  <lst name="responseHeader">
    <int name="status">0</int>
  </lst>
  <result name="response" numFound="12" start="0" maxScore="1.0" numFoundExact="true">
    <doc>
      <str name="id">1</str>
      <arr name="labels">
        <str>a</str>
        <str>b</str>
      </arr>
    </doc>
    <doc/>
  </result>
  <lst name="facet_counts">
    <lst name="facet_fields">
      <lst name="labels">
        <int name="a">2</int>
        <int>1</int>
      </lst>
    </lst>
    <lst name="facet_ranges">
      <lst name="price">
        <lst name="counts">
          <int name="0">3</int>
        </lst>
        <long name="gap">10</long>
      </lst>
    </lst>
  </lst>
  <lst name="terms">
    <lst name="rate">
      <int name="2.0">7</int>
      <int name="true">1</int>
    </lst>
  </lst>
</response>
`);
  });

  it('writes characters that XML does not allow by their numbers, as Solr does', () => {
    const bad = '\0\u0007\u000b\u001f\ufffe\uffff\ud800x\udc00';
    expect(readSolrXml(writeXml({ bad }, 0)).bad).toBe('#0;#7;#11;#31;#65534;#65535;#55296;x#56320;');
  });

  it('is parsed back unchanged, whatever text it contains', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    const written = fc.constantFrom('\r\n', '\t', '\r', ']]>', '&amp;', '<b>', '"', "'", '\u0085', '\u2028', '😀');
    fc.assert(
      fc.property(fc.array(fc.oneof(text, written), { maxLength: 20 }), (parts) => {
        const value = parts.join('').replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
        expect(readSolrXml(writeXml({ value, [`n${value}`]: 1 }, 2))).toEqual({ value, [`n${value}`]: 1 });
      }),
    );
  });
});

describe('wt=xml', () => {
  const C = '/solr/my-collection';
  let service: Service;
  beforeAll(async () => {
    service = await startService();
    const documents = [
      { id: '<1>', import: outputsOf('red'), labels: ['a&b', 'c'], price: 10, rate: 0.5, on: true, at: '2024-01-31' },
      { id: '2', import: outputsOf('blue'), labels: ['c'], price: 20, title: 'bell \u0007 & "quote" \r\n end' },
    ];
    expect((await postJson(service.gateway, `${C}/update?commit=true`, documents)).status).toBe(200);
  });
  afterAll(async () => service?.[Symbol.asyncDispose]());

  const both = async (path: string, options?: TestRequest) => {
    const sign = path.includes('?') ? '&' : '?';
    const xml = await ask(service.gateway, `${path}${sign}wt=xml`, options);
    const json = await ask(service.gateway, `${path}${sign}wt=json&json.nl=map`, options);
    expect(xml.headers['content-type']).toBe('application/xml; charset=UTF-8');
    expect(xml.status).toBe(json.status);
    const { error } = json.json;
    if (error) error.metadata = { [error.metadata[0]]: error.metadata[1] };
    const read = readSolrXml(xml.text);
    for (const { responseHeader } of [read, json.json]) if (responseHeader) responseHeader.QTime = 0;
    return { xml: read, json: json.json, text: xml.text, status: xml.status };
  };

  it.each([
    '/select?q=id:2&fl=id,price,labels,score',
    '/select?q=*:*&sort=id+asc&fq=-id:2&indent=true',
    '/select?q=nothing',
    '/query?omitHeader=true&fl=id&sort=id+asc&cursorMark=*',
    '/image?rank.by.id=2&rows=5',
    '/select?rows=0&facet=true&facet.field=labels&facet.field=on&facet.query=price:10&facet.missing=true',
    '/select?rows=0&facet=true&facet.range=price&facet.range.start=0&facet.range.end=30&facet.range.gap=10',
    '/schema',
    '/operations',
    '/operations/my-collection-1',
    '/admin/ping',
    '/pixolution',
    '',
    '/select?q=a+AND',
    '/select?rows=many&rank.threshold=2',
    '/image?rank.by.id=gone',
    '/thumbnail?id=gone',
    '/update',
  ])('contains the same as JSON: %s', async (path) => {
    const { xml, json } = await both(`${C}${path}`);
    expect(xml).toEqual(bellsOf(json));
  });

  it.each([`${C}/mlt`, '/nothing', '/api/cores/%ff/select', '/api/cores/my-collection/terms/more'])(
    'is also used for unknown paths: %s',
    async (path) => {
      const { xml, json, status } = await both(`${path}?indent=true`);
      expect([xml, [400, 404]]).toEqual([json, expect.arrayContaining([status])]);
    },
  );

  it('says why a request is refused before its parameters are read', async () => {
    expect((await both(`${C}/select`, { method: 'DELETE' })).status).toBe(405);
    const foreign = { headers: { host: 'example.com' } };
    const { xml, json, status } = await both(`${C}/select`, foreign);
    expect([xml, status]).toEqual([json, 403]);
  });

  it('distinguishes types that JSON does not: Longs, Doubles, dates', async () => {
    const { text } = await both(`${C}/select?q=price:10&fl=*,score`);
    for (const part of [
      '<str name="id">&lt;1&gt;</str>',
      '<arr name="labels"><str>a&amp;b</str><str>c</str></arr>',
      '<long name="price">10</long>',
      '<double name="rate">0.5</double>',
      '<bool name="on">true</bool>',
      '<date name="at">2024-01-31T00:00:00Z</date>',
      '<arr name="copyspace"><long>0</long>',
      '<float name="score">1.0</float>',
    ]) {
      expect(text).toContain(part);
    }
    expect(text.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n<response><lst name="responseHeader">')).toBe(true);
  });

  it('has terms as lists', async () => {
    const { xml } = await both(`${C}/terms?terms.fl=labels`);
    expect(xml.terms).toEqual({ labels: { c: 2, 'a&b': 1 } });
  });

  it('answers updates, also refused ones', async () => {
    const body = { headers: { 'content-type': 'text/xml' }, body: '<delete><id>none</id></delete>' };
    const done = await ask(service.gateway, `${C}/update?wt=xml&version=2.2`, body);
    expect(readSolrXml(done.text)).toMatchObject({ responseHeader: { status: 0 }, operations: { count: 1 } });
    const refused = await ask(service.gateway, `${C}/update?wt=xml`, { ...body, body: '<add><doc/></add>' });
    expect(refused.status).toBe(400);
    const { error } = readSolrXml(refused.text);
    expect(error).toMatchObject({ code: 400, msg: expect.stringContaining('"id" is required') });
    expect(error.details).toEqual([expect.objectContaining({ position: 0, code: 'bad-request' })]);
    expect(refused.text).toContain('<lst name="error"><lst name="metadata"><str name="error-class">bad-request</str>');
  });
});

/** Characters that XML does not allow are written by their numbers. */
function bellsOf(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json).replaceAll('\\u0007', '#7;'));
}
