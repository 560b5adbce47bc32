import { AkinError } from '@akin/domain';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Service, startService } from '../../test/start-service.ts';

describe('a failed change', () => {
  let service: Service;
  let broken = true;

  beforeAll(async () => {
    service = await startService({
      analyze: async () => {
        if (broken) throw new AkinError('image-unreachable', 'The server answered 404.');
        return { outputs: '{}' };
      },
    });
  });
  afterAll(async () => service[Symbol.asyncDispose]());

  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${service.gateway.url}/api/cores/my-collection${path}`, init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const post = (path: string, body?: unknown) =>
    ask(path, {
      method: 'POST',
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });

  it('is reported with its reason, counted by it, and retried on request', async () => {
    const documents = ['a', 'b'].map((id) => ({ id, image: `http://images.example/${id}.jpg` }));
    expect((await post('/update', documents)).status).toBe(422);
    expect((await ask('/operations?state=failed')).body.operations).toMatchObject([
      { operation: 'my-collection-1', id: 'a', state: 'failed', reason: { code: 'image-unreachable' } },
      { operation: 'my-collection-2', id: 'b' },
    ]);
    expect((await ask('')).body).toMatchObject({ failed: 2, failures: { 'image-unreachable': 2 } });
    broken = false;
    expect(await post('/operations/my-collection-1/retry')).toMatchObject({
      status: 200,
      body: { operation: 'my-collection-1', id: 'a' },
    });
    expect((await post('/operations/retry?reason=image-undecodable')).body).toMatchObject({ retried: 0 });
    expect((await post('/operations/retry?reason=image-unreachable')).body).toMatchObject({
      retried: 1,
      superseded: 0,
      conflicting: 0,
    });
    await post('/update?commit=true&waitAnalysis=true');
    expect((await ask('/select?fl=id&sort=id asc')).body.response).toMatchObject({ docs: [{ id: 'a' }, { id: 'b' }] });
  });

  it('is not retried if it did not fail, does not exist, or the request is a GET', async () => {
    expect(await post('/operations/my-collection-1/retry')).toMatchObject({
      status: 409,
      body: { error: { msg: 'Only failed operations can be retried. This one is visible.' } },
    });
    expect(await post('/operations/my-collection-99/retry')).toMatchObject({ status: 404 });
    expect(await post('/operations/retry?reason=rain')).toMatchObject({ status: 400 });
    expect(await ask('/operations/my-collection-1/retry')).toMatchObject({ status: 405 });
  });
});
