import { AkinRequestError, type Collection } from '@akin/client';
import { expect, it, jest } from '@jest/globals';
import { messageOf } from './messages.ts';
import { queryOfFile } from './upload.ts';

const collectionOf = (analyze: () => Promise<unknown>) => ({ analyze: jest.fn(analyze) }) as unknown as Collection;

it('reads no file that is too large to be sent', async () => {
  const collection = collectionOf(async () => ({ outputs: '{}' }));
  const film = new Blob([new Uint8Array(25 * 1024 ** 2)]);
  const read = jest.spyOn(film, 'arrayBuffer');
  const error = await queryOfFile(collection, film, false).catch((cause: unknown) => cause);
  expect(messageOf(error)).toBe('This file is too large to search with.');
  expect(read).not.toHaveBeenCalled();
});

it('sends the picture itself if the key does not allow an analysis', async () => {
  const collection = collectionOf(async () => {
    throw new AkinRequestError(403, 'Not allowed.');
  });
  expect(await queryOfFile(collection, new Blob(['abc']), false)).toEqual({ by: 'data', data: 'YWJj' });
  expect(collection.analyze).toHaveBeenCalledWith({ data: 'YWJj' }, { 'modules.apply': 'content,color,duplicate' });
});
