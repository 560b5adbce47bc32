import { ENDPOINTS, type Endpoint, type EndpointName } from '@akin/contract';
import { describe, expect, it } from '@jest/globals';
import type { ParameterList } from './parameters.ts';
import { readQueryString } from './parameters.ts';
import { repeats } from './read-parameters.ts';
import { resolveNames } from './resolve-names.ts';

const resolve = (name: EndpointName, query: string) =>
  resolveNames(ENDPOINTS[name], readQueryString(query, 5_000))
    .map((pair) => pair.join('='))
    .join('&');

/** Each parameter of each endpoint that takes several values, or those that take one. */
const parameters = (several: boolean) =>
  Object.entries<Endpoint>(ENDPOINTS).flatMap(
    ([
      endpoint,
      {
        parameters: { shape },
      },
    ]) =>
      Object.keys(shape)
        .filter((name) => shape[name] !== undefined && repeats(shape[name]) === several)
        .map((name) => [endpoint, name] as [EndpointName, string]),
  );

describe('parameters with several values', () => {
  it('may be written as arrays and in any case', () => {
    for (const [endpoint, name] of parameters(true)) {
      const spellings = [
        name,
        `${name}[]`,
        `${name}[0]`,
        `${name}[a][1]`,
        `${name}.0`,
        name.toUpperCase(),
        `${name.toUpperCase()}[]`,
      ];
      const sent: ParameterList = spellings.map((spelling) => [spelling, 'x']);
      expect(resolveNames(ENDPOINTS[endpoint], sent)).toEqual(spellings.map(() => [name, 'x']));
    }
  });

  it.each([
    ['fq[]=a:b&fq%5B1%5D=c:d&rows=1', 'fq=a:b&fq=c:d&rows=1'],
    ['f.price.facet.range.other[]=all', 'f.price.facet.range.other=all'],
    ['facet.pivot[]=a,b', 'facet.pivot=a,b'],
    ['rank.by[]=id:1', 'rank.by=id:1'],
    // What a text refers to stays a filter: users type texts.
    ['q=id:2 OR "$fq[]"&fq[]=a:b', 'q=id:2 OR "$fq[]"&fq[]=a:b&fq=a:b'],
    ['q={!lucene v=$FQ}&FQ=a:b', 'q={!lucene v=$FQ}&FQ=a:b&fq=a:b'],
    ['q={!lucene v=$x[]}&x[]=a:b', 'q={!lucene v=$x[]}&x[]=a:b'],
    ['utm[]=a&[]=b&fq[=c&fq]=d&ROWS=5', 'utm[]=a&[]=b&fq[=c&fq]=d&ROWS=5'],
  ])('%s is read as %s', (sent, expected) => {
    expect(resolve('select', sent)).toBe(expected);
  });
});

it('arrays of parameters with one value are refused', () => {
  for (const [endpoint, name] of parameters(false)) {
    for (const array of ['[]', '.0']) {
      expect(() => resolve(endpoint, `${name}${array}=1`)).toThrow(`send it as ${name}=`);
    }
  }
  expect(() => resolve('select', 'f.price.facet.limit[]=1')).toThrow('f.price.facet.limit=');
});
