import { describe, expect, it } from '@jest/globals';
import { messageOf, print, withoutPositions } from '../test/queries.ts';
import { parseQuery } from './parse-query.ts';

describe('local parameters', () => {
  it.each([
    ['{!words f=category}red (shoe', '{!words f="category" q.op=AND v="red (shoe"}'],
    ['{!words f=category q.op=OR}red shoe', '{!words f="category" q.op=OR v="red shoe"}'],
    ['{!words f="odd } \\"name" v=\'it\\\'s\'}', '{!words f="odd } \\"name" q.op=AND v="it\'s"}'],
    ['{!term f=id}a b:(c', 'id:a\\ b\\:\\(c'],
    ['{!field f=id}a b', 'id:"a b"'],
    ['{!prefix f=id}a b', 'id:a\\ b*'],
    ['{!terms f=id}a, b,c', '((id:a id:\\ b id:c))^=1'],
    ['{!terms f=id separator=" "} a  b ', '((id:a id:b))^=1'],
    ['{!terms f=id separator=;}a,b;c', '((id:a,b id:c))^=1'],
    ['{!terms f=id}', '(-*:*)'],
    ['{!raw f=id}a b', 'id:a\\ b'],
    ['_query_:"{!term f=id}a b" +c', '(+text:c id:a\\ b)'],
    ['_query_:"a -b"^2', '((text:a -text:b))^2'],
    ['_query_:{!prefix f=id}a', 'id:a*'],
    ['{!lucene df=labels q.op=AND}a b', '(+labels:a +labels:b)'],
    ['{!tag=one}a:b', 'a:b'],
    ['{!lucene}-a', '(+*:* -text:a)'],
    ['+{!term f=id}7 -x:y', '(+id:7 -x:y)'],
    ['({!term f=id v="7 8"}) AND b', '(+id:7\\ 8 +text:b)'],
  ])('reads %s', (text, expected) => {
    expect(print(parseQuery(text))).toBe(expected);
  });

  it('lets the default operator of the request join words', () => {
    expect(parseQuery('{!words f=c}a b', { defaultOperator: 'OR' })).toMatchObject({ operator: 'OR' });
  });

  it.each([
    ['{!geofilt sfield=shop pt=45.15,-93.85 d=5}', 'shop', 45.15, -93.85, 5],
    ['{!geofilt}', 'location', 1, 2, 3.5],
    ['{!geofilt d=$far}', 'location', 1, 2, 9],
    ['{!type=geofilt pt="3, 4"} ', 'location', 3, 4, 3.5],
  ])('reads %s', (text, field, lat, lon, high) => {
    const request: Record<string, string> = { pt: '1,2', d: '3.5', far: '9' };
    expect(withoutPositions(parseQuery(text, { parameter: (name) => request[name] }))).toEqual({
      kind: 'distance',
      distance: { field, from: { lat, lon } },
      low: null,
      high,
      includeLow: true,
      includeHigh: true,
    });
  });

  it.each([
    ['{!bbox pt=1,2 d=3}', '{!bbox sfield="location" pt=1,2 d=3}'],
    ['a OR {!bbox pt=1,2 d=3}', '(text:a {!bbox sfield="location" pt=1,2 d=3})'],
    ['{!frange l=1 u=2 incl=false}geodist(shop,3,4)', '{!frange l=1 u=2 incl=false incu=true v="geodist(shop,3,4)"}'],
    ['{!frange u=2 pt=1,2}geodist()', '{!frange  u=2 incl=true incu=true v="geodist(location,1,2)"}'],
    ['{!frange l=1 incu=false}price', 'price:["1" TO *}'],
    ['{!frange u=5}field(price)', 'price:[* TO "5"]'],
    ['{!func pt=1,2 sfield=shop}geodist()', '{!func v="geodist(shop,1,2)"}/1 of *:*'],
    ['{!func}geodist(1,2,shop)', '{!func v="geodist(shop,1,2)"}/1 of *:*'],
    ['{!geofilt pt=1,2 d=3 filter=false}', '*:*'],
    [
      '{!bbox pt=1,2 d=3 score=miles}',
      '{!func v="geodist(location,1,2)"}/1.609344 of {!bbox sfield="location" pt=1,2 d=3}',
    ],
  ])('reads %s', (text, expected) => {
    expect(print(parseQuery(text))).toBe(expected);
  });

  it.each([
    ['{!geofilt d=5}', '{!geofilt} needs pt='],
    ['{!geofilt pt=1,2}', '{!geofilt} needs d='],
    ['{!geofilt pt=1,2 d=-1}', 'expected d=<kilometers>, 0 or more'],
    ['{!geofilt pt=1,2 d=far}', 'found "far"'],
    ['{!geofilt pt=91,2 d=1}', 'pt is a place'],
    ['{!geofilt pt=here d=1}', 'found "here"'],
    ['{!geofilt pt=1,2 d=1} AND a', 'expected nothing after {!geofilt'],
    ['{!bbox pt=1,2 d=1 score=area}', 'score="area" is not understood'],
    ['{!func}log(price)', '"log(price)" is not understood'],
    ['{!frange l=1}sum(a,b)', '"sum(a,b)" is not understood'],
    ['{!frange l=near pt=1,2}geodist()', 'expected l=<kilometers>'],
    ['{!func}geodist(1)', 'geodist takes a field, a latitude and a longitude'],
    ['{!func}geodist(1,shop,2)', 'geodist takes a field, a latitude and a longitude'],
    ['{!func}geodist(1,2,3)', 'geodist takes a field, a latitude and a longitude'],
    ['{!func}geodist(a,b)', 'geodist takes a field, a latitude and a longitude'],
    ['{!func}geodist(95,2)', 'geodist is a place'],
  ])('refuses %s', (text, problem) => {
    expect(messageOf(text)).toContain(problem);
  });

  it('takes the value of another parameter for $name, within bounds', () => {
    const options = (request: Record<string, string>) => ({ parameter: (name: string) => request[name] });
    expect(print(parseQuery('{!term f=$field v=$it}', options({ field: 'id', it: 'a b' })))).toBe('id:a\\ b');
    expect(print(parseQuery('+{!lucene v=$qq} -c', options({ qq: 'a b' })))).toBe('(+(text:a text:b) -text:c)');
    const laughs = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`p${i}`, `+{!lucene v=$p${i + 1}} +{!lucene v=$p${i + 1}}`]),
    );
    expect(() => parseQuery('{!lucene v=$p0}', options({ ...laughs, p30: '' }))).toThrow('more than 20000 clauses');
    expect(() => parseQuery('{!lucene v=$me}', options({ me: 'a {!lucene v=$me}' }))).toThrow(
      'nested more than 100 deep',
    );
    const long = 'a '.repeat(500_000);
    expect(() => parseQuery('+{!term f=a v=$x} +{!term f=a v=$x}', options({ x: long }))).toThrow('more than 1048576');
    expect(() => parseQuery('{!term f=a v=$x}', options({ x: '\0' }))).toThrow('NUL');
  });

  it('counts a list of values as one clause', () => {
    const clauses = (count: number) => `a${' {!terms f=id}1,2'.repeat(count - 1)}`;
    const query = parseQuery(clauses(20_000));
    expect(query.kind === 'bool' && query.should.length).toBe(20_000);
    expect(messageOf(clauses(20_001))).toContain('more than 20000 clauses');
  });

  it('names what it does not understand', () => {
    expect(messageOf('{!dismax qf=a}b')).toContain('{!dismax} is not understood');
    expect(messageOf('{!term}b')).toContain('expected f=<field> in {!term}');
    expect(messageOf('{!term f=$x}b')).toContain('no parameter "x"');
    expect(messageOf('{!term f=a')).toContain('not closed');
    expect(messageOf('{!term f=a v=b}c')).toContain('nothing after');
    expect(messageOf('{!lucene q.op=XOR}c')).toContain('q.op=AND or q.op=OR');
  });
});
