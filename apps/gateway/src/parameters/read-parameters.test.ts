import { ENDPOINTS, type Endpoint } from '@akin/contract';
import { describe, expect, it } from '@jest/globals';
import { loggableParameters } from '../http/request-log.ts';
import { readQueryString } from './parameters.ts';
import { readParameters } from './read-parameters.ts';

const select = (query: string) =>
  readParameters(ENDPOINTS.select.parameters, readQueryString(query, 100), { collection: 'c' });
const update = (query: string) =>
  readParameters(ENDPOINTS.update.parameters, readQueryString(query, 100), { collection: 'c' });

describe('parameters of an endpoint', () => {
  it('have their defaults', () => {
    expect(select('')).toMatchObject({ collection: 'c', q: '*:*', fq: [], rows: 10, start: 0 });
    expect(update('')).toMatchObject({ commit: false, openSearcher: true, waitSearcher: true, async: false });
  });

  it('are what the whole schema of the endpoint says', () => {
    for (const { parameters } of Object.values<Endpoint>(ENDPOINTS)) {
      const path = { collection: 'c' };
      const read = (query: string) => readParameters(parameters, readQueryString(query, 100), path);
      const required = Object.entries(parameters.shape).filter(([, type]) => !type.safeParse(undefined).success);
      if (required.some(([name]) => !Object.hasOwn(path, name))) {
        expect(() => read('')).toThrow('is required');
      } else {
        const known = Object.entries(path).filter(([name]) => Object.hasOwn(parameters.shape, name));
        expect(read('')).toEqual(parameters.parse(Object.fromEntries(known)));
      }
    }
  });

  it('are of one request alone where a default is a list', () => {
    (select('') as { fq: string[] }).fq.push('a');
    expect(select('')).toMatchObject({ fq: [] });
  });

  it.each(['true', 'True', 'TRUE', '1', 'on', 'yes'])('accept %s as true', (word) => {
    expect(update(`commit=${word}`)).toMatchObject({ commit: true });
  });

  it.each(['false', 'False', '0', 'off', 'no'])('accept %s as false', (word) => {
    expect(update(`openSearcher=${word}`)).toMatchObject({ openSearcher: false });
  });

  it('keep the order of repeated values, or use only the first one', () => {
    expect(select('fq=a&fq=b&rows=3&rows=4')).toMatchObject({ fq: ['a', 'b'], rows: 3 });
  });

  it('count as not sent if a text is empty', () => {
    expect(select('q=&fq=&fq=a&sort=')).toMatchObject({ q: '*:*', fq: ['a'] });
    expect(select('q=&sort=')).not.toHaveProperty('sort');
  });

  it.each([
    ['rows=abc', 'Parameter rows must be a whole number from 0 to 1000'],
    ['rows=', 'Parameter rows must be'],
    ['rows=-1', 'Parameter rows must be'],
    ['rows=1.5', 'Parameter rows must be'],
    ['rows=1e2', 'Parameter rows must be'],
    ['rows=1001', 'cursorMark'],
    ['start=10001', 'cursorMark'],
    ['rank.threshold=2', 'Parameter rank.threshold must be a number from 0 to 1'],
    ['rank.threshold=NaN', 'Parameter rank.threshold'],
    ['rank.smartfilter=most', 'Parameter rank.smartfilter must be one of off, low, medium, high'],
    ['q.op=XOR', 'Parameter q.op'],
    ['indent=perhaps', 'Parameter indent must be true or false; it is "perhaps"'],
  ])('are refused by name if malformed: %s', (query, message) => {
    expect(() => select(query)).toThrow(message);
  });

  it('list every malformed one in the details', () => {
    let details: unknown;
    try {
      select('rows=x&start=y');
    } catch (error) {
      details = (error as { details: { msg: string }[] }).details.map(({ msg }) => msg.split(' ')[1]);
    }
    expect(details).toEqual(['start', 'rows']);
  });

  it('ignore unknown names, and take the collection only from the path', () => {
    expect(select('nonsense=1&collection=other&__proto__=x')).toMatchObject({ collection: 'c' });
  });
});

describe('parameters in the log', () => {
  const logged = (query: string) => loggableParameters(ENDPOINTS.image.parameters, readQueryString(query, 100));

  it('are those that the endpoint knows', () => {
    expect(logged('q=shoe&fq=a:1&fq=b:2&api_key=secret')).toEqual({ q: 'shoe', fq: 'a:1 & b:2' });
  });

  it('never contain image data, outputs, or the signature of a URL', () => {
    const text = JSON.stringify(
      logged(
        'rank.by.data=aGVsbG8&rank.by.outputs=%7B%22x%22%3A1%7D&rank.by.url=https%3A%2F%2Fu:pw%40h.example%2Fa.jpg%3FSignature%3Dabc%26x&fq=image%3A%22http%3A%2F%2Fh.example%2Fb%3Ftoken%3Dt1%22',
      ),
    );
    expect(text).toContain('https://h.example/a.jpg?…');
    for (const secret of ['aGVs', '{\\"x', 'Signature', 'pw', 't1']) expect(text).not.toContain(secret);
  });

  it('are none if logParamsList is empty, and otherwise only those that it lists', () => {
    expect(logged('q=shoe&logParamsList=')).toBeUndefined();
    expect(logged('q=shoe&rows=3&logParamsList=rows')).toEqual({ rows: '3' });
  });
});
