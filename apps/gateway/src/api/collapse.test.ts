import { groupRule } from '@akin/modules/vectors';
import { findCollection, updateGroups } from '@akin/store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, postJson } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

const C = '/api/cores/my-collection';

let service: Service;
beforeAll(async () => {
  service = await startService();
  const documents = [
    { id: 'red', import: outputsOf('red'), price: 1 },
    { id: 'red, edited', import: outputsOf('red-copy'), price: 2 },
    { id: 'red?again=1', import: outputsOf('red'), price: 3 },
    { id: 'blue', import: outputsOf('blue'), price: 5 },
    { id: 'blue twin', import: outputsOf('blue'), price: 6 },
    { id: 'no picture', price: 70 },
  ];
  expect((await postJson(service.gateway, `${C}/update?commit=true`, documents)).status).toBe(200);
  const collection = await findCollection(service.store, 'my-collection');
  expect(await updateGroups(service.store, collection, groupRule(), { milliseconds: 60_000 })).toBe(true);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

describe('collapse=duplicates', () => {
  const search = async (query: string) => {
    const { status, json } = await ask(service.gateway, `${C}/${query}`);
    if (status !== 200) return [status, json.error.msg];
    const { numFound, docs } = json.response;
    return [numFound, docs.map(({ id, collapsed }: { id: string; collapsed: number }) => [id, collapsed])];
  };
  const red = `image?rank.by.id=${encodeURIComponent('red?again=1')}&fl=id&collapse=duplicates`;

  it('shows one document of each group, and counts what is shown', async () => {
    expect(await search('select?rows=20&sort=id+asc&fl=id&collapse=duplicates')).toEqual([
      3,
      [
        ['blue', 1],
        ['no picture', 0],
        ['red', 2],
      ],
    ]);
    expect((await search('select?rows=0'))[0]).toBe(6);
    expect(await search('select?rows=0&q=-id:blue&collapse=duplicates')).toEqual([3, []]);
  });

  it('folds the matches of rankings, thresholds, filters and facets', async () => {
    const [count, [first]] = await search(`${red}&rows=1`);
    expect([count, first]).toEqual([2, ['red', 2]]);
    expect((await search(`${red}&rank.threshold=0.99`))[0]).toBe(1);
    // The representative does not match, so another document represents the group.
    expect(await search('select?fq=price:6&fl=id&collapse=duplicates')).toEqual([1, [['blue twin', 0]]]);
    const { json } = await ask(
      service.gateway,
      `${C}/select?rows=0&facet=true&facet.query=price:[5+TO+6]&collapse=duplicates`,
    );
    expect(json.facet_counts.facet_queries).toEqual({ 'price:[5 TO 6]': 1 });
  });

  it('is refused with a cursorMark, and with another value', async () => {
    expect(await search('select?cursorMark=*&sort=id+asc&collapse=duplicates')).toEqual([
      400,
      expect.stringContaining('collapse is not possible with cursorMark'),
    ]);
    expect(await search('select?collapse=other')).toEqual([400, expect.stringContaining('collapse')]);
  });
});
