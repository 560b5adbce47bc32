import { describe, expect, it } from '@jest/globals';
import { withoutPasswords } from './request-log.ts';

describe('passwords in the URLs of a message', () => {
  it.each([
    ['fetched https://ann:s3cret@cdn.example/a.jpg', 'fetched https://[removed]@cdn.example/a.jpg'],
    ['"postgresql+psycopg://akin:s3cret@db/akin"', '"postgresql+psycopg://[removed]@db/akin"'],
    ['rediss://:s3cret@cache, redis://a:b:c@cache', 'rediss://[removed]@cache, redis://[removed]@cache'],
  ])('are removed: %s', (text, expected) => {
    expect(withoutPasswords(text)).toBe(expected);
  });

  it.each(['ann@example.com says a:b@c', 'https://ann@cdn.example/x:y@z', '://a:b@c'])('are not in: %s', (text) => {
    expect(withoutPasswords(text)).toBe(text);
  });

  // If the time grew with the square of the length, this would run for hours.
  it.each(['a', 'a://', 'a://:', ':', '@'])(
    'are searched in time proportional to the length: a text of %s',
    (piece) => {
      const text = `a://${piece.repeat(5_000_000)}`;
      expect(withoutPasswords(text)).toBe(text);
    },
  );
});
