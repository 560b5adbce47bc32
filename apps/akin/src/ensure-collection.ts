import { type Client, NotFoundError, type TypedCollection } from '@akin/client';

/**
 * The collection that a command fills. It is created if it does not exist, because naming it in this command is
 * explicit enough.
 */
export async function ensureCollection(client: Client, name = 'my-collection'): Promise<TypedCollection> {
  const collection = client.collection(name);
  try {
    // A key with a filter may not list the collections.
    await collection.schema();
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    await collection.create();
  }
  return collection;
}
