import { describe, expect, it } from '@jest/globals';
import { updatedService } from '../../test/updated-service.ts';

const { send } = updatedService(() => {});
const PATH = '/api/cores/my-collection/runs';
const FAILURE = { path: '/photos/ä "1".heic', code: 'unsupported-image', msg: 'HEIC is not read.' };
const put = (id: string, report: object) =>
  send(`${PATH}/${id}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ source: '/photos', state: 'running', ...report }),
  });
const post = (id: string, what: string) => send(`${PATH}/${id}/${what}`, { method: 'POST' });
const list = async () => (await send(PATH)).json.runs;

describe('runs', () => {
  it('are listed as last reported, and can be dismissed after their end', async () => {
    expect((await put('one', { total: 5, done: 1, failed: 2, failures: [FAILURE], secondsLeft: 3 })).status).toBe(200);
    expect((await post('one', 'dismiss')).json.error.msg).toMatch(/still active/);
    await put('one', { total: 5, done: 3, failed: 2 });
    await put('one', { state: 'done', total: 5, done: 3, failed: 2 });
    expect(await list()).toEqual([
      {
        ...{ id: 'one', source: '/photos', state: 'done', total: 5, done: 3, unchanged: 0, failed: 2 },
        ...{ failures: [FAILURE], failuresMore: 1, secondsLeft: null, startedAt: expect.stringMatching(/^20.*Z$/) },
      },
    ]);
    // Another process did the run.
    const { status, json } = await post('one', 'retry');
    expect([status, json.error.msg]).toEqual([409, expect.stringContaining('akin index /photos')]);
    expect((await post('one', 'dismiss')).status).toBe(200);
    expect(await list()).toEqual([]);
    expect((await post('one', 'dismiss')).status).toBe(404);
  });

  it('are limited to the newest ten', async () => {
    for (let i = 0; i < 12; i++) await put(`run-${i}`, { state: 'done' });
    expect((await list()).map(({ id }: { id: string }) => id)).toEqual(
      Array.from({ length: 10 }, (_, i) => `run-${11 - i}`),
    );
  });

  it.each([
    ['a', { state: 'odd' }],
    ['a', { total: -1 }],
    ['a', { failures: [{ path: '/x' }] }],
    ['a', { failures: [{ ...FAILURE, msg: 'x'.repeat(1001) }] }],
    ['a', { failures: Array.from({ length: 1001 }, () => FAILURE) }],
    ['a'.repeat(101), {}],
  ])('are refused if invalid: %s %j', async (id, report) => {
    expect((await put(id, report)).status).toBe(400);
  });
});
