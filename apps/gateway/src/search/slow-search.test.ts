import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, FORM_BODY, postJson } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

const C = '/api/cores/my-collection';
const DOCUMENTS = 4_000;

/**
 * Each of the words is compared with each name in a thousand ways. Without a limit this takes more than ten seconds.
 */
const SLOW = Array.from({ length: 120 }, (_, i) => `name:abcdefgh${String(i).padStart(3, '0')}~2`).join(' OR ');

describe('a search that takes too long on the embedded database', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({}, { searchMilliseconds: 2_000 });
    const documents = Array.from({ length: DOCUMENTS }, (_, i) => ({ id: `${i}`, name: `abcdxyzv${i % 1000}`, n: i }));
    expect((await postJson(service.gateway, `${C}/update?commit=true`, documents)).status).toBe(200);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
  });

  const slow = (more = '') =>
    ask(service.gateway, `${C}/select`, { body: `q=${encodeURIComponent(SLOW)}${more}`, headers: FORM_BODY });
  const count = async () => (await ask(service.gateway, `${C}/select?q=*:*&rows=0`)).json.response.numFound;

  it('is stopped and says what to do, while all others are answered', async () => {
    const stopped = slow();
    const others = [];
    for (let i = 0; i < 20; i++) others.push(ask(service.gateway, `${C}/select?q=id:${i}`));
    const change = postJson(service.gateway, `${C}/update?commit=true`, [{ id: 'new', n: 1 }]);
    const { status, headers, json } = await stopped;
    expect([status, Number(headers['retry-after'])]).toEqual([503, expect.any(Number)]);
    expect(json.error.msg).toMatch(/longer than 2 seconds.*timeAllowed/);
    expect((await Promise.all(others)).map((one) => [one.status, one.json.response.numFound])).toEqual(
      others.map(() => [200, 1]),
    );
    expect((await change).status).toBe(200);
    expect(await count()).toBe(DOCUMENTS + 1);
  });

  it('gets a partial result if it allows that', async () => {
    const { status, json } = await slow('&timeAllowed=100');
    expect(status).toBe(200);
    expect(json.responseHeader.partialResults).toBe(true);
    expect(await count()).toBe(DOCUMENTS + 1);
  });
});
