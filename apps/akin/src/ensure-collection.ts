import type { Client, Collection } from '@akin/client';

/**
 * The collection that a command fills. It is created if it does not exist, because naming it in this command is
 * explicit enough.
 */
export async function ensureCollection(client: Client, name = 'my-collection'): Promise<Collection> {
  const collection = client.collection(name);
  const { collections } = await client.collections();
  if (!collections.some((one) => one.name === name)) await collection.create();
  return collection;
}
