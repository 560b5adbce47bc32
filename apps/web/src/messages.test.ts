import { AkinRequestError } from '@akin/client';
import { expect, it } from '@jest/globals';
import { messageOf } from './messages.ts';

it.each([
  [
    400,
    'Parameter q: The query cannot be read at character 8, after "price:[": expected the lower bound of a range, or *.',
    'The query cannot be read at character 8, after "price:[": expected the lower bound of a range, or *.',
  ],
  [
    404,
    'Parameter rank.by.id: no document "gone" is visible. Was it committed?',
    'The document "gone" is no longer in the collection.',
  ],
  [
    400,
    'Parameter rank.by.url: The URL of a picture must be absolute and begin with http:// or https://.',
    'The URL of a picture must be absolute and begin with http:// or https://.',
  ],
  [
    400,
    'rank.by.hex: colour 1, "zz", is not 0xRRGGBB or #RRGGBB with an optional :weight.',
    'akin cannot search for this colour.',
  ],
  [
    400,
    'Parameter rank.by.outputs contains no content descriptor: analyze with modules.apply=content.',
    'akin cannot read your picture: choose it again.',
  ],
  [
    404,
    'There is no collection "nocoll". There is my-collection. Create it with PUT /api/cores/nocoll.',
    'There is no collection "nocoll".',
  ],
  [
    422,
    'The image at http://127.0.0.1:1/x.jpg could not be fetched: the connection was refused.',
    'The image at http://127.0.0.1:1/x.jpg could not be fetched: the connection was refused.',
  ],
  [500, 'Something internal', 'akin had an internal error. Its log contains the details.'],
  [0, 'No response from akin: is it running? (fetch failed)', 'akin does not answer. Is it still running?'],
])('says %d in the words of the page: %s', (status, said, shown) => {
  expect(messageOf(new AkinRequestError(status, said))).toBe(shown);
});

it('says when to try again', () => {
  expect(messageOf(new AkinRequestError(503, 'Busy', [], 2))).toBe('akin cannot do this now. Try again in 2 seconds.');
});

it('says that a file cannot be read', () => {
  expect(messageOf(new DOMException('', 'NotReadableError'))).toBe('The file could not be read.');
  expect(messageOf(new TypeError('x is undefined'))).toBe('This page had an error. Reload it.');
});
