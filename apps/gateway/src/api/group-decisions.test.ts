import { describe, expect, it } from '@jest/globals';
import { CORES, updatedService } from '../../test/updated-service.ts';

const { post, send } = updatedService(() => {});
const PATH = '/api/cores/my-collection/groups/decisions';

describe('decisions on groups', () => {
  it('are stored for each pair, listed in pages, and withdrawn', async () => {
    await post(
      `${CORES}?commit=true`,
      ['a', 'b', 'ü "c"'].map((id) => ({ id })),
    );
    const ids = ['ü "c"', 'a', 'b', 'a'];
    const { status, json } = await post(PATH, { ids, decision: 'different' });
    expect([status, json.ids, json.decision]).toEqual([200, ['ü "c"', 'a', 'b'], 'different']);
    const first = (await send(`${PATH}?rows=2`)).json;
    expect(first.decisions.map((one: { ids: string[] }) => one.ids)).toEqual([
      ['a', 'b'],
      ['a', 'ü "c"'],
    ]);
    const last = (await send(`${PATH}?rows=2&cursor=${first.nextCursor}`)).json;
    expect([last.decisions, last.nextCursor]).toEqual([[{ ids: ['b', 'ü "c"'], decision: 'different' }], undefined]);
    expect((await post(PATH, { ids, decision: null })).json.decision).toBe(null);
    expect((await send(PATH)).json.decisions).toEqual([]);
    expect((await post(PATH, { ids: ['a', 'nobody'], decision: 'different' })).status).toBe(404);
  });

  it.each([
    { ids: ['a'], decision: 'different' },
    { ids: ['a', 'a'], decision: 'different' },
    { ids: ['a', 'b'] },
    { ids: ['a', 'b'], decision: 'same' },
    { ids: Array.from({ length: 101 }, (_, i) => `${i}`), decision: 'different' },
  ])('are refused: %j', async (body) => {
    expect((await post(PATH, body)).status).toBe(400);
  });
});
