import { badRequest } from '@akin/domain';
import type { SeqRange } from '@akin/store/changes';
import type { Collection } from '@akin/store/database';

/** The value of `responseHeader.token` of an update: the operations that a later search must wait for. */
const FORM = /^akin1 (\d{1,10}) (\d{1,16}) (\d{1,16}) (.*)$/;

export function writeToken(collection: Collection, { first, last }: SeqRange): string {
  return Buffer.from(`akin1 ${collection.id} ${first} ${last} ${collection.name}`).toString('base64url');
}

/**
 * @param newest number of the newest operation of the collection: a token beyond it is from another store
 * @throws AkinError bad-request if the token is not one of this collection
 */
export function readToken(token: string, collection: Collection, newest: number): SeqRange {
  const text = Buffer.from(token, 'base64url').toString();
  const [, id, first, last, name] = FORM.exec(text) ?? [];
  if (
    ![collection.id, collection.predecessor].includes(Number(id)) ||
    name !== collection.name ||
    Number(last) > newest
  ) {
    throw badRequest(
      `Parameter after is not a token of the collection ${collection.name}: send the responseHeader.token from the response to an update of it.`,
    );
  }
  return { first: Number(first), last: Number(last) };
}
