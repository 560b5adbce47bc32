import { listTombstones } from '@akin/store/changes';
import { findCollection } from '@akin/store/database';
import { readIdCursor, writeIdCursor } from '../http/id-cursor.ts';
import type { HandlerFor } from '../http/serve.ts';

export const tombstones: HandlerFor<'tombstones'> = async ({ parameters }, { store }) => {
  const { rows, cursor } = parameters;
  const after = cursor === undefined ? undefined : readIdCursor(cursor);
  const collection = await findCollection(store, parameters.collection);
  const { tombstones, next } = await listTombstones(store, collection, { limit: rows, after });
  return { body: { tombstones, nextCursor: next && writeIdCursor(next) } };
};
