import type { Client, Collection } from '@akin/client';

/** The collection of a command that fills it; made when it does not exist, because naming it there is clear enough. */
export async function collectionToFill(client: Client, name = 'my-collection'): Promise<Collection> {
  const collection = client.collection(name);
  const { collections } = await client.collections();
  if (!collections.some((one) => one.name === name)) await collection.create();
  return collection;
}
