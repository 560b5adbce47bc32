import { describe, expect, it } from '@jest/globals';
import { looksLikeDate } from './date-like.ts';

describe('a text looks like a date', () => {
  it.each([
    '2024-01-01 10:00:00',
    '2024-01-01 10:00:00.123456+02',
    '2024-1-5',
    '2024/01/31',
    '2024:01:31 10:00:00',
    '2024-02-30',
    '01.02.2024',
    '31.1.2024, 10:00',
    '1/31/2024 10:00 PM',
    '20240131T100000Z',
    'Wed, 31 Jan 2024 10:00:00 GMT',
    '31-Jan-2024',
    '31. January 2024',
    'January 31st, 2024',
    'Wed Jan 31 10:00:00 2024',
    'Wed Jan 31 10:00:00 UTC 2024',
    'Wed Jan 31 2024 10:00:00 GMT+0100 (Central European Standard Time)',
    'Wed Jan 31 2024 10:00:00 GMT-0330',
  ])('%s', (text) => expect(looksLikeDate(text)).toBe(true));

  it.each([
    'red shoe',
    '2024',
    '12345678',
    '1.2.24',
    '192.168.1.10',
    '10-20-30',
    '978-3-16-148410-0',
    '+49 30 1234567',
    'May 2024 was warm',
    'Wed Jan 31 2024 10:00:00 in Berlin (Germany)',
    'IMG_20240131_100000.jpg',
    '2024-01-31 in Berlin, as planned',
    `2024-01-31${' '.repeat(200)}x`,
    '',
  ])('not %s', (text) => expect(looksLikeDate(text)).toBe(false));
});
