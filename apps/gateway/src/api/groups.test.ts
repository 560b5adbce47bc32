import { groupRule } from '@akin/modules/vectors';
import { findCollection, updateGroups } from '@akin/store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, FORM_BODY, postJson } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

const C = '/api/cores/my-collection';

const blank = (picture: string) =>
  JSON.stringify({ ...JSON.parse(outputsOf(picture)), copyspace: [0, 1, 2, 3, 4, 5, 6, 7, 8] });

let service: Service;
beforeAll(async () => {
  service = await startService();
  await update([
    { id: 'red', import: outputsOf('red'), price: 1, title: 'A red one', location: '48.1,11.5' },
    { id: 'red, edited', import: outputsOf('red-copy'), price: 2, title: 'The same again' },
    { id: 'red?again=1', import: outputsOf('red'), price: 3 },
    { id: 'red but another', import: outputsOf('red-2'), price: 4 },
    { id: 'blue', import: outputsOf('blue'), price: 5 },
    { id: 'blue twin', import: outputsOf('blue'), price: 6 },
    { id: 'page 1', import: blank('white') },
    { id: 'page 2', import: blank('white') },
    { id: 'no picture', price: 70 },
  ]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

async function update(body: unknown, path = C): Promise<void> {
  expect((await postJson(service.gateway, `${path}/update?commit=true`, body)).status).toBe(200);
}

/** The background work of the indexer. */
async function group(): Promise<void> {
  const collection = await findCollection(service.store, 'my-collection');
  expect(await updateGroups(service.store, collection, groupRule(), { milliseconds: 60_000 })).toBe(true);
}

const get = async (query = '', path = C) => {
  const { status, json } = await ask(service.gateway, `${path}/groups?${query}`);
  return status === 200 ? json : [status, json.error.msg];
};
const ids = ({ groups }: { groups: { members: { id: string }[] }[] }) =>
  groups.map(({ members }) => members.map(({ id }) => id));

describe('/groups', () => {
  it('has none before the first run, and says up to which commit', async () => {
    expect(await get()).toMatchObject({ commit: 1, asOfCommit: 0, numFound: 0, numFoundExact: false, groups: [] });
  });

  it('lists copies with their scores and the pairs of each group; blank pages do not match', async () => {
    await group();
    const response = await get('fl=title,price');
    expect(response).toMatchObject({ responseHeader: { status: 0 }, commit: 1, asOfCommit: 1, threshold: 0.74 });
    expect([response.numFound, response.numFoundExact, response.nextCursor]).toEqual([2, true, undefined]);
    const [blue, red] = response.groups;
    expect(blue).toMatchObject({
      id: 'blue',
      representative: 'blue',
      size: 2,
      members: [
        { id: 'blue', price: 5, score: 1 },
        { id: 'blue twin', price: 6, score: 1 },
      ],
      pairs: [{ ids: ['blue', 'blue twin'], score: 1 }],
    });
    expect(red.members.map(({ id }: { id: string }) => id)).toEqual(['red', 'red?again=1', 'red, edited']);
    expect(red.members[0]).toEqual({ id: 'red', title: 'A red one', price: 1, score: 1 });
    const [same, edited] = red.pairs;
    expect([same.score, edited.ids]).toEqual([1, ['red', 'red, edited']]);
    expect(edited.score).toBeGreaterThan(0.7);
    expect(edited.score).toBeLessThan(1);
  });

  it('leaves out the outputs of the analysis if fl says so', async () => {
    const { groups } = await get('fl=*,-outputs');
    expect(Object.keys(groups[1].members[0])).toEqual(['id', 'location', 'price', 'title', 'score']);
  });

  it('returns the same score as a search for copies', async () => {
    const { json } = await ask(service.gateway, `${C}/duplicate?rank.by.id=red&fl=id,score`);
    const scores = new Map(json.response.docs.map(({ id, score }: { id: string; score: number }) => [id, score]));
    const { groups } = await get('fq=red&fq=-id:blue');
    for (const { id, score } of groups[0].members) expect(score).toBeCloseTo(scores.get(id) as number, 9);
  });

  it('lists all members of one group in parts', async () => {
    const red = (from: number) => get(`group.id=red&group.limit=2&group.offset=${from}&fl=id`);
    const first = await red(0);
    expect([ids(first), first.numFound, first.groups[0].size]).toEqual([[['red', 'red?again=1']], 1, 3]);
    expect(ids(await red(2))).toEqual([['red, edited']]);
    expect(ids(await red(3))).toEqual([[]]);
    expect(ids(await get('group.id=red&group.offset=1&fq=price:[2+TO+5]'))).toEqual([['red, edited']]);
    expect(await get('group.id=nobody')).toMatchObject({ numFound: 0, groups: [] });
    expect((await get('group.offset=-1'))[0]).toBe(400);
  });

  it('is filtered by fq, paged by cursor, and lists as many members as requested', async () => {
    expect(ids(await get('fq=price:[2+TO+5]'))).toEqual([['red?again=1', 'red, edited']]);
    expect(ids(await get('fq=price:[2+TO+*]&fq=-id:blue'))).toEqual([['red?again=1', 'red, edited']]);
    const first = await get('rows=1&group.limit=1');
    expect([ids(first), first.groups[0].size, first.numFound]).toEqual([[['blue']], 2, 2]);
    const second = await get(`limit=1&cursor=${first.nextCursor}`);
    expect([ids(second)[0]?.[0], second.nextCursor]).toEqual(['red', undefined]);
    expect(await get('rows=0')).toMatchObject({ numFound: 2, groups: [] });
    expect(await get('rows=0&fq=+&fq=')).toMatchObject({ numFound: 2 });
  });

  it('answers at the old prefix, to a form and as a page', async () => {
    expect(ids(await get('rows=1', '/solr/my-collection'))).toEqual([['blue', 'blue twin']]);
    const posted = await ask(service.gateway, `${C}/groups/`, { method: 'POST', headers: FORM_BODY, body: 'rows=1' });
    expect(ids(posted.json)).toEqual([['blue', 'blue twin']]);
    const page = await ask(service.gateway, `${C}/groups?wt=html`);
    expect([page.status, page.text.includes('blue twin')]).toEqual([200, true]);
    const computed = await get('fq=id:red*&fl=cost:price,km:geodist()&pt=48.1,11.5&sfield=location');
    expect(computed.groups[0].members[0]).toEqual({ id: 'red', cost: 1, km: 0, score: 1 });
  });

  it('shows no member that left, and says that it is not current', async () => {
    await update({ delete: ['blue twin'] }, '/solr/my-collection');
    const behind = await get();
    expect([ids(behind).length, behind.asOfCommit, behind.commit, behind.numFoundExact]).toEqual([1, 1, 2, false]);
    await group();
    expect(await get()).toMatchObject({ numFound: 1, asOfCommit: 2, numFoundExact: true });
  });

  it('refuses invalid parameters by name', async () => {
    for (const [query, named] of [
      ['rows=101', 'rows'],
      ['rows=x', 'rows'],
      ['group.limit=0', 'group.limit'],
      ['cursor=%25', 'cursor'],
      ['cursor=AA', 'cursor'],
      ['fq=price:[', 'fq'],
      ['fq=nosuch:1', 'fq'],
      ['fq=price:x', 'fq'],
      ['fl=sum(1)', 'fl'],
      ['group=true', 'group'],
    ]) {
      expect([query, await get(query)]).toEqual([query, [400, expect.stringContaining(`${named}`)]]);
    }
    expect((await ask(service.gateway, '/api/cores/nosuch/groups')).status).toBe(404);
  });
});
