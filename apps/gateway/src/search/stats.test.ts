import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask, postJson } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

let service: Service;
const C = '/api/cores/my-collection';
const get = async (query: string) => (await ask(service.gateway, `${C}/select?rows=0&${query}`)).json;
const figures = async (query: string) => (await get(`stats=true&${query}`)).stats.stats_fields;

beforeAll(async () => {
  service = await startService();
  await postJson(service.gateway, `${C}/schema`, {
    field: ['weights:double[]', 'big:double', 'day:date', 'total:long'],
  });
  await postJson(service.gateway, `${C}/update?commit=true`, [
    { id: '1', price: 10, name: 'b', sold: true, day: '2024-02-29', weights: [1.5, 2.5] },
    { id: '2', price: 20, name: 'a', sold: false, weights: [2], big: 1e300 },
    { id: '3', price: 40, name: 'Z', day: '0044-03-15', big: -1e300, total: 9223372036854775807n.toString() },
    { id: '4', name: 'a', total: 1 },
  ]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

it('are those of all matches, by the type of the field', async () => {
  expect(await figures('stats.field=price&stats.field=day&stats.field=name&stats.field=sold')).toEqual({
    price: { min: 10, max: 40, count: 3, missing: 1, sum: 70, mean: 70 / 3, stddev: expect.closeTo(15.2753, 4) },
    day: { min: '0044-03-15T00:00:00Z', max: '2024-02-29T00:00:00Z', count: 2, missing: 2 },
    name: { min: 'Z', max: 'b', count: 4, missing: 0 },
    sold: { min: false, max: true, count: 2, missing: 2 },
  });
  const { weights } = await figures('stats.field=weights');
  expect(weights).toEqual({ min: 1.5, max: 2.5, count: 3, missing: 2, sum: 6, mean: 2, stddev: 0.5 });
});

it('leave out filters by tag, have names, and can be chosen', async () => {
  const query =
    'q=price:*&fq={!tag=p}price:[20 TO *]&stats.field={!ex=p key=all}price&stats.field={!max=true min=on}price';
  const { all, price } = await figures(encodeURI(query));
  expect([all.count, all.sum, price]).toEqual([3, 70, { min: 20, max: 40 }]);
});

it('of nothing are null, and of huge numbers too', async () => {
  const nothing = { min: null, max: null, count: 0, missing: 0, sum: 0, mean: null, stddev: 0 };
  expect(await figures('q=id:none&stats.field=price&stats.field=weights')).toEqual({
    price: nothing,
    weights: nothing,
  });
  const none = await ask(service.gateway, `${C}/select?rows=0&stats=true&q=id:none&stats.field=weights`);
  expect(none.text).toContain('"sum":0.0,');
  expect(await figures('')).toEqual({});
  expect(await figures('q=id:3&stats.field=price')).toMatchObject({ price: { count: 1, mean: 40, stddev: 0 } });
  const { big } = await figures('stats.field=big');
  expect(big).toEqual({ min: -1e300, max: 1e300, count: 2, missing: 2, sum: null, mean: null, stddev: null });
  // The sum has more than 64 bits, so that it is a Double.
  const { text } = await ask(service.gateway, `${C}/select?rows=0&stats=true&stats.field=total`);
  expect(text).toContain('"max":9223372036854775807,"count":2,"missing":2,"sum":9223372036854776000.0,');
});

it.each([
  ['stats=true&stats.field=nothing', '"nothing"'],
  ['stats=true&stats.field=location', 'location'],
  ['stats=true&stats.field=text', 'text'],
  ['stats=true&stats.field={!percentiles=50}price', 'percentiles'],
  ['stats=true&stats.field=price&stats.facet=name', 'stats.facet'],
])('are refused by name: %s', async (query, problem) => {
  const { error } = await get(encodeURI(query));
  expect([error.code, error.msg]).toEqual([400, expect.stringContaining(problem)]);
});
