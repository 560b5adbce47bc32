import { createClient } from '@akin/client';
import { describe, expect, it } from '@jest/globals';
import { firstRequests } from './first-requests.ts';

/** A client of a collection "c", of whose documents those in `pictures` have a picture. */
function clientWith(collections: readonly { name: string; documents: number }[], ...pictures: string[]) {
  const fetch = async (input: unknown) => {
    if (new URL(String(input)).pathname === '/api/cores') return Response.json({ collections });
    const isRanked = new URL(String(input)).pathname.endsWith('/color');
    const notes = collections.some((one) => one.documents > 0) ? ['a note'] : [];
    const ids = isRanked ? pictures : [...notes, ...pictures];
    const docs = ids.map((id) => ({ id })).slice(0, 1);
    return Response.json({ responseHeader: { status: 0 }, response: { numFound: ids.length, start: 0, docs } });
  };
  return createClient({ baseUrl: 'http://127.0.0.1:8983', retries: 0, fetch });
}

describe('the first requests', () => {
  it('are about a document with a picture', async () => {
    const text = await firstRequests(clientWith([{ name: 'c', documents: 2 }], 'photo'), 'c', false);
    expect(text).toContain("curl 'http://127.0.0.1:8983/api/cores/c/image?rank.by.id=photo&");
    expect(text).not.toContain('a note');
  });

  it.each([
    [1, /^No document has a picture yet\./],
    [0, /^The collection is empty\. To fill it: npx akin-search index/],
  ])('are left out if no document has a picture, of %d', async (documents, said) => {
    expect(await firstRequests(clientWith([{ name: 'c', documents }]), 'c', false)).toMatch(said);
  });

  it('are about another collection if only that one has documents', async () => {
    const all = [
      { name: 'c', documents: 0 },
      { name: 'full', documents: 5 },
    ];
    expect(await firstRequests(clientWith(all, 'photo'), 'c', false)).toContain('/api/cores/full/image?');
  });
});
