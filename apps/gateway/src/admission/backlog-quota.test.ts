import { findCollection, readBacklog } from '@akin/store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { postJson } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

const UPDATE = '/api/cores/my-collection/update?async=true';

describe('the backlog quota', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ limits: { waitingAnalyses: 100, unappliedChanges: 400 } });
    service.pause();
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
  });

  let next = 0;
  const pictures = (count: number) =>
    Array.from({ length: count }, () => ({ id: `p${next++}`, image: 'http://pictures.example/a.jpg' }));
  const plain = (count: number) => Array.from({ length: count }, () => ({ id: `d${next++}` }));
  const send = (documents: unknown) => postJson(service.gateway, UPDATE, documents);
  /** The counts are read again after a second. */
  async function untilStatus(status: number, documents: () => unknown) {
    for (;;) {
      const response = await send(documents());
      if (response.status === status) return response;
      expect([202, 429]).toContain(response.status);
    }
  }
  const backlog = async () =>
    readBacklog(service.store, await findCollection(service.store, 'my-collection'), { analyses: 0, changes: 0 });

  it('accepts a single request that exceeds the whole quota', async () => {
    expect((await send(pictures(120))).status).toBe(202);
    expect(await backlog()).toEqual({ analyses: 1, changes: 1 });
  });

  it('refuses bulk requests with pictures, says when to try again, and keeps nothing of them', async () => {
    const { headers, json } = await untilStatus(429, () => pictures(30));
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(json.error.msg).toContain('pictures of the collection my-collection wait to be analyzed');
    expect((await send(plain(30))).status).toBe(202);
  });

  it('accepts small requests a little longer, then refuses them too', async () => {
    await untilStatus(429, () => pictures(1));
    expect((await send(plain(1))).status).toBe(202);
  });

  it('refuses all changes if too many wait to be applied', async () => {
    const { json } = await untilStatus(429, () => plain(50));
    expect(json.error.msg).toContain('changes of the collection my-collection wait to be applied');
    expect((await send(plain(1))).status).toBe(202);
    expect((await send({ delete: ['d1'] })).status).toBe(202);
  });

  it('accepts bulk requests again when the backlog is done', async () => {
    service.resume();
    const commit = '/api/cores/my-collection/update?commit=true&waitAnalysis=true';
    expect((await postJson(service.gateway, commit, { delete: ['x'] })).status).toBe(200);
    await untilStatus(202, () => pictures(30));
  });
});
