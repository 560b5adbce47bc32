import { describe, expect, it } from '@jest/globals';
import { CORES, SOLR, updatedService } from '../../test/updated-service.ts';

const { post, send } = updatedService(() => {});
const PATH = '/api/cores/my-collection/tombstones';
const file = (id: string) => ({ id, source: '/photos', modified: '2026-01-02T03:04:05Z', bytes: 4_000_000_000 });
const tombstone = (id: string) => ({ ...file(id), path: id });
const list = async (query = '') => (await send(`${PATH}${query}`)).json;
const ids = async () => (await list()).tombstones.map(({ id }: { id: string }) => id);

describe('tombstones', () => {
  it('list the files whose documents were deleted, by id, by query and in XML', async () => {
    const odd = 'ünï/it\'s "q" & 50%.jpg';
    await post(`${CORES}?commit=true`, ['a', 'b', 'c', odd].map(file));
    await post(`${SOLR}?commit=true`, { delete: [odd] });
    await post(`${SOLR}?commit=true`, { delete: { query: 'id:a' } });
    await send(`${SOLR}?commit=true`, {
      method: 'POST',
      headers: { 'content-type': 'text/xml' },
      body: '<delete><id>b</id></delete>',
    });
    expect((await list()).tombstones).toEqual([tombstone('a'), tombstone('b'), tombstone(odd)]);
    const { tombstones, nextCursor } = await list('?rows=2');
    expect(tombstones).toHaveLength(2);
    const last = await list(`?rows=2&cursor=${nextCursor}`);
    expect([last.tombstones, last.nextCursor]).toEqual([[tombstone(odd)], undefined]);
  });

  it('are not written with tombstones=false, and are removed with *:*', async () => {
    await post(`${CORES}?commit=true`, ['a', 'b'].map(file));
    await post(`${SOLR}?commit=true&tombstones=false`, { delete: ['a'] });
    expect(await ids()).toEqual([]);
    await post(`${SOLR}?commit=true`, { delete: ['b'] });
    expect(await ids()).toEqual(['b']);
    await post(`${SOLR}?commit=true`, { delete: { query: '*:*' } });
    expect(await ids()).toEqual([]);
  });

  it.each(['?cursor=no%20cursor', '?rows=0', '?rows=10001'])('refuse %s', async (query) => {
    const { status, json } = await send(`${PATH}${query}`);
    expect([status, json.error.msg]).toEqual([400, expect.stringMatching(/cursor|rows/)]);
  });

  it('belong to an existing collection', async () => {
    expect((await send('/api/cores/nobody/tombstones')).status).toBe(404);
  });
});
