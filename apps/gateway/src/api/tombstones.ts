import { findCollection, listTombstones } from '@akin/store';
import { readIdCursor, writeIdCursor } from '../http/id-cursor.ts';
import type { HandlerFor } from '../http/serve.ts';

/** A page of the files whose documents were deleted on purpose. */
export const tombstones: HandlerFor<'tombstones'> = async ({ parameters }, { store }) => {
  const { rows, cursor } = parameters;
  const after = cursor === undefined ? undefined : readIdCursor(cursor);
  const collection = await findCollection(store, parameters.collection);
  const page = await listTombstones(store, collection, { limit: rows, after });
  return {
    body: {
      tombstones: page.tombstones,
      ...(page.next === undefined ? {} : { nextCursor: writeIdCursor(page.next) }),
    },
  };
};
