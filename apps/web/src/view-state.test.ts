import { expect, it } from '@jest/globals';
import { asCurl, rankParameters, readState, writeState } from './view-state.ts';

it.each([
  ['hex=%23d02030', 'color'],
  ['hex=%23d02030&mode=duplicate', 'color'],
  ['shows=boats&mode=color', 'content'],
  ['like=a&mode=duplicate', 'duplicate'],
  ['like=a&mode=other', 'content'],
])('reads ?%s as a search by %s', (address, mode) => {
  expect(readState(`?${address}`).mode).toBe(mode);
});

it('keeps the small picture of an upload in the fragment, and takes nothing else for one', () => {
  const query = { by: 'outputs', outputs: '{"content_descriptor":"AA=="}', picture: '/9j/4AAQ+A==' };
  const url = writeState({ ...readState(''), query } as ReturnType<typeof readState>);
  expect(url).toMatch(/^\?outputs=.*#picture=\/9j\/4AAQ\+A==$/);
  expect(readState(url).query).toEqual(query);
  for (const picture of ['', 'a"b', 'javascript:1', `${'A'.repeat(30_000)}`]) {
    expect(readState(`?outputs=x#picture=${picture}`).query).toEqual({ by: 'outputs', outputs: 'x' });
  }
});

it('keeps a part of a picture at a URL, and shows it', () => {
  const query = { by: 'url', url: 'https://a.example/1.jpg', region: '0.1,0,0.5,1', picture: '/9j/' };
  const url = writeState({ ...readState(''), query } as ReturnType<typeof readState>);
  expect(readState(url).query).toEqual(query);
  expect(readState('?url=x&region=2,0,1,1').query).toEqual({ by: 'url', url: 'x' });
});

it('gives weights and regions in the order in which clients send inputs', () => {
  const examples = [
    { id: 'b', sign: 'more' },
    { id: 'c', sign: 'less', weight: 0.25 },
  ] as const;
  const state = { examples, mode: 'content' } as const;
  expect(rankParameters({ by: 'id', id: 'a', region: '0,0,1,0.5' }, state)).toEqual({
    'rank.by.id': ['a', 'b', 'c'],
    'rank.region': ['0,0,1,0.5'],
    'rank.weights': '1,1,0.25',
  });
  expect(Object.entries(rankParameters({ by: 'url', url: 'u', region: '0,0,1,0.5' }, state))).toEqual([
    ['rank.by.id', ['b', 'c']],
    ['rank.by.url', 'u'],
    ['rank.region', ['', '', '0,0,1,0.5']],
    ['rank.weights', '1,0.25,1'],
  ]);
});

it('looks for copies of an upload by the picture itself, which is not in the URL', () => {
  const query = { by: 'outputs', outputs: '{}', data: 'YWJj' } as const;
  const copies = { ...readState(''), query, mode: 'duplicate' } as const;
  expect(rankParameters(query, copies)).toEqual({ 'rank.by.data': 'YWJj' });
  const examples = [{ id: 'b', sign: 'more' }] as const;
  for (const other of [{ ...copies, mode: 'content' } as const, { ...copies, examples }]) {
    expect(rankParameters(query, other)).toMatchObject({ 'rank.by.outputs': '{}' });
  }
  expect(readState(writeState(copies)).query).toEqual({ by: 'outputs', outputs: '{}' });
});

it('writes a search by a picture as a command that sends a file', () => {
  expect(asCurl("http://a/image?q=it's", true, true)).toBe(
    `curl -H "Authorization: Bearer $AKIN_KEY" -F file=@picture.jpg 'http://a/image?q=it%27s'`,
  );
});
