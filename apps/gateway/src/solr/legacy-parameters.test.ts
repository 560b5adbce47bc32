import { AkinError } from '@akin/domain';
import { growth, LINEAR } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { readQueryString } from '../parameters/parameters.ts';
import { translateLegacyParameters } from './legacy-parameters.ts';

const translate = (query: string) => translateLegacyParameters(readQueryString(encodeURI(query), 100));
const list = (query: string) => translate(query).list.map(([name, value]) => `${name}=${value}`);
const refusal = (query: string) => {
  try {
    return list(query);
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    return `${error.code}: ${error.message}`;
  }
};

describe('old spellings', () => {
  it.each([
    ['q=a&rank.by.id=7', ['q=a', 'rank.by.id=7']],
    ['rank.by=id:7&rank.mode=default', ['rank.by.id=7', 'rank.mode=default']],
    ['rank.by=id:a:b', ['rank.by.id=a:b']],
    ['rank.by=url:http://a.example/b?c=d', ['rank.by.url=http://a.example/b?c=d']],
    ['rank.by=hex:0xff0000', ['rank.by.hex=0xff0000']],
    ['rank.by=data:aGVsbG8=', ['rank.by.data=aGVsbG8=']],
    ['rank.by=data:a/b/c', ['rank.by.data=a/b/c']],
    ['rank.by=data:image/png;base64,aGVsbG8=', ['rank.by.data=data:image/png;base64,aGVsbG8=']],
    ['rank.by=data:data:image/png;base64,aGVs', ['rank.by.data=data:image/png;base64,aGVs']],
    ['rank.by.id=1&rank.by=id:2&rank.by.id=3', ['rank.by.id=1', 'rank.by.id=2', 'rank.by.id=3']],
    ['dup.find=id:7', ['rank.by.id=7', 'rank.mode=duplicate']],
    ['dup.find=id:7&rank.mode=content', ['rank.by.id=7', 'rank.mode=content', 'rank.mode=duplicate']],
    ['dup.find=id:7&dup.threshold=0.9', ['rank.by.id=7', 'rank.mode=duplicate', 'rank.threshold=0.9']],
    ['input.urls=http://a.example/b.jpg', ['input.url=http://a.example/b.jpg']],
    ['textspace.true=any', ['fq=copyspace:[0 TO 8]']],
    ['textspace.true=nw,N 8', ['fq=copyspace:(0 AND 1 AND 8)']],
    ['textspace.false=c', ['fq=-copyspace:(4)']],
    ['rank.by=&q=a', ['q=a']],
    ['rank.conf.weight=100&pixolution=true', []],
  ])('%s', (query, expected) => {
    expect(list(query)).toEqual(expected);
  });

  it.each([
    ['rank.by=7', 'it must begin with one of id:, url:, hex:, data:'],
    ['rank.by=descriptor:abc', 'rank.by.outputs'],
    ['rank.by=constructor:abc', 'rank.by.outputs'],
    ['rank.by=id:1&rank.by=id:2', 'one picture per request'],
    ['input.urls=a&input.urls=b', 'one picture per request'],
    ['textspace=any', 'fq=copyspace'],
    ['textspace.left=true', 'fq=copyspace'],
    ['textspace.true=middle', 'nw, n, ne'],
    ['textspace.false=any', 'nw, n, ne'],
    ['rank.conf.weight=50', 'does not mix'],
  ])('%s is refused', (query, message) => {
    expect(refusal(query)).toEqual(expect.stringMatching(/^bad-request: Parameter /));
    expect(refusal(query)).toEqual(expect.stringContaining(message));
  });

  it('warns about what it ignores, and is fast for large inputs', async () => {
    expect(translate('pixolution=true&rank.conf.weight=100').warnings).toHaveLength(2);
    const translateOne = (length: number) => {
      const long = 'data:'.concat(';/'.repeat(length));
      expect(translateLegacyParameters([['rank.by', long]]).list[0]?.[0]).toBe('rank.by.data');
    };
    expect(await growth(translateOne, 1_000_000)).toBeLessThan(LINEAR);
  });
});
