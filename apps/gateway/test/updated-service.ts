import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { ask, postJson, type TestRequest } from './start-gateway.ts';
import { type Service, startService } from './start-service.ts';

export const CORES = '/api/cores/my-collection/update';
export const SOLR = '/solr/my-collection/update';

/**
 * Call this once per file: all its tests share one service, with an empty collection before each.
 *
 * @param take gets the service before the first test
 */
export function updatedService(take: (service: Service) => void = () => {}) {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
    take(service);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    service.resume();
    const { documents, pending } = (await send('/api/cores/my-collection')).json;
    if (documents + pending === 0) return;
    expect((await post(`${SOLR}?commit=true&waitAnalysis=true`, { delete: { query: '*:*' } })).status).toBe(200);
  });

  const post = (path: string, body: unknown) => postJson(service.gateway, path, body);
  const send = (path: string, options: TestRequest = {}) => ask(service.gateway, path, options);
  const ids = async (query = '') => {
    const { json } = await send(`/api/cores/my-collection/select?fl=id&sort=id%20asc&rows=1000${query}`);
    return json.response.docs.map(({ id }: { id: string }) => id);
  };
  return { post, send, ids };
}
