import { expect, it } from '@jest/globals';
import { filter } from './filter.ts';
import { searchToken } from './search-token.ts';

const KEY = `akin_0123456789ab_${'0'.repeat(64)}`;
const expires = new Date(2_000_000_000_999);

it('makes the search token of docs/keys.md', async () => {
  const token =
    'akin_0123456789ab.eyJmaWx0ZXIiOiJ0ZW5hbnQ6YSIsImV4cGlyZXMiOjIwMDAwMDAwMDB9.c_qGzQzI2SZAN2qu5HQmG6bbJrKMJrdxV6iZZXwt6Ag';
  expect(await searchToken(KEY, { filter: 'tenant:a', expires })).toBe(token);
});

it('signs any text of a user', async () => {
  const token = await searchToken(KEY, { filter: filter`tenant:${'a" OR "schön 👟'}`, expires });
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  expect(JSON.parse(payload)).toEqual({ filter: 'tenant:"a\\" OR \\"schön 👟"', expires: 2_000_000_000 });
});

it.each([
  ['another text than a key', 'secret', 'tenant:a', expires],
  ['a token', 'akin_0123456789ab.e30.AAAA', 'tenant:a', expires],
  ['a blank filter', KEY, ' ', expires],
  ['no time', KEY, 'tenant:a', new Date('tomorrow')],
])('is not made of %s', async (_, key, query, time) => {
  await expect(searchToken(key, { filter: query, expires: time })).rejects.toThrow(TypeError);
});
