import type { Client, Collection } from '@akin/client';

const RED = '0xE03C31';

/**
 * Three requests to paste, about a document with a picture. If akin requires a key, they send the one in AKIN_KEY.
 *
 * @param name the collection; if it is empty, they are about the largest one
 */
export async function firstRequests(client: Client, name: string, withKey: boolean): Promise<string> {
  const { collections } = await client.collections();
  const [largest] = collections.toSorted((one, other) => other.documents - one.documents);
  const isEmpty = collections.find((one) => one.name === name)?.documents === 0;
  return requestsOf(client.collection((isEmpty && largest?.name) || name), withKey);
}

async function requestsOf(collection: Collection, withKey: boolean): Promise<string> {
  // Documents without a picture have no colours.
  const { docs } = (await collection.color({ 'rank.by.hex': RED, rows: 1, fl: 'id' })).response;
  const id = docs[0]?.id;
  if (id === undefined) {
    const { numFound } = (await collection.select({ rows: 0 })).response;
    const state = numFound === 0 ? 'The collection is empty. To fill it' : 'No document has a picture yet. To add some';
    return `${state}: npx akin-search index <folder>\n`;
  }
  const addresses = [
    collection.searchAddress('select', { rows: 3, fl: 'id,labels' }),
    collection.searchAddress('image', { 'rank.by.id': id, rows: 5, fl: 'id,score' }),
    collection.searchAddress('color', { 'rank.by.hex': RED, rows: 5, fl: 'id,score,color_names' }),
  ];
  const title = withKey ? 'Three requests to paste, with a key in the variable AKIN_KEY' : 'Three requests to paste';
  const header = withKey ? ' -H "Authorization: Bearer $AKIN_KEY"' : '';
  const requests = addresses.map((address) => `  curl '${address.replaceAll("'", '%27')}'${header}\n`);
  return `\n${title}:\n${requests.join('')}\n`;
}
