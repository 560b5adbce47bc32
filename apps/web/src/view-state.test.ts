import { expect, it } from '@jest/globals';
import { asCurl, readState, writeState } from './view-state.ts';

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

it('writes a search by a picture as a command that sends a file', () => {
  expect(asCurl("http://a/image?q=it's", true, true)).toBe(
    `curl -H "Authorization: Bearer $AKIN_KEY" -F file=@picture.jpg 'http://a/image?q=it%27s'`,
  );
});
