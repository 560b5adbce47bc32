import { Double, JsonNumber } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readSolrXml } from '../../test/solr-xml.ts';
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
