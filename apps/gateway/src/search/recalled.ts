import { AkinError, type ErrorCode } from '@akin/domain';
import { type Collection, type CollectionSchema, findCollection, loadSchema, recallCollection } from '@akin/store';
import type { Context } from '../context.ts';

/** What may be wrong only because what was recalled is out of date. */
const OUTDATED: readonly ErrorCode[] = ['not-found', 'bad-request', 'conflict'];

/** An answer, and what it came from. */
interface Seen<T> {
  readonly value: T;
  /** What the collection is called, and the version of its fields, as the database said it with the answer. */
  readonly collection: { readonly name: string; readonly schemaVersion: number };
}

/**
 * Answers from what this process last knew of a collection, which saves asking for it first. An answer that tells that
 * it was not so any more is made a second time, of the collection as it is.
 *
 * @param isCostly an answer that is not to be made twice, such as one that analyzes a picture: it asks first
 * @throws AkinError not-found when there is no such collection
 */
export async function answerRecalled<T>(
  name: string,
  { store }: Context,
  isCostly: boolean,
  answer: (collection: Collection, schema: CollectionSchema) => Promise<Seen<T>>,
): Promise<T> {
  const recalled = isCostly ? undefined : recallCollection(store, name);
  if (recalled !== undefined) {
    const { collection, schema } = recalled;
    const seen = await answer(collection, schema).catch((error: unknown) => {
      // What it is asked about may be new, or the collection another one.
      if (error instanceof AkinError && OUTDATED.includes(error.code)) return undefined;
      throw error;
    });
    if (seen?.collection.name === name && seen.collection.schemaVersion === schema.version) return seen.value;
  }
  const collection = await findCollection(store, name);
  return (await answer(collection, await loadSchema(store, collection))).value;
}
