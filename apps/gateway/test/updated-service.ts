import { afterEach, expect } from '@jest/globals';
import { ask, postJson, type TestRequest } from './start-gateway.ts';
import type { Service } from './start-service.ts';

export const CORES = '/api/cores/my-collection/update';
export const SOLR = '/solr/my-collection/update';

/** Requests to a service whose collection is emptied after each test. */
export function updatedService(service: Omit<Service, symbol>) {
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
