import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, FORM_BODY, postJson } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

const C = '/api/cores/my-collection';

let service: Service;
beforeAll(async () => {
  service = await startService();
  const documents = [
    { id: 'red', import: outputsOf('red'), labels: ['red', 'mine alone'], category: 'warm' },
    { id: 'red-2', import: outputsOf('red-2'), labels: ['red', 'painted'], category: 'warm', price: 1 },
    { id: 'red-3', import: outputsOf('red-3'), labels: ['red'], category: 'warm', price: 2 },
    { id: 'blue', import: outputsOf('blue'), labels: ['blue', 'painted'], category: 'cold', price: 3 },
    { id: 'unlabelled', import: outputsOf('red-4'), price: 4 },
    { id: 'words', labels: ['red'], title: 'no picture' },
    { id: 'colours', import: outputsOf('red', ['color']), labels: ['red'] },
  ];
  expect((await postJson(service.gateway, `${C}/update?commit=true`, documents)).status).toBe(200);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

type Tag = { tag: string; confidence: number; voters: { id: string; score: number }[] };

const get = async (fields: Record<string, string>, path = C) => {
  const { status, json } = await ask(service.gateway, `${path}/tag?${new URLSearchParams(fields)}`);
  return status === 200 ? json : [status, json.error.msg];
};

describe('/tag', () => {
  it('returns the labels of neighbours with confidence and voters; no document votes for itself', async () => {
    const { tags, voters } = await get({ 'tagging.input.id': 'red' });
    expect(voters).toBe(3);
    expect(tags.map(({ tag }: Tag) => tag)).toEqual(['red', 'painted', 'blue']);
    const [red, painted] = tags as [Tag, Tag];
    expect(new Set(red.voters.map(({ id }) => id))).toEqual(new Set(['red-2', 'red-3']));
    expect(red.voters[0]?.score).toBeGreaterThanOrEqual(red.voters[1]?.score as number);

    const { json } = await ask(service.gateway, `${C}/image?rank.by.id=red&fq=labels:*&fq=-id:red&fl=id,score`);
    const scores: Record<string, number> = Object.fromEntries(
      json.response.docs.map(({ id, score }: { id: string; score: number }) => [id, score]),
    );
    const weight = (id: string) => (scores[id] as number) ** 2;
    const all = weight('red-2') + weight('red-3') + weight('blue');
    const best = Math.max(scores['red-2'] as number, scores['red-3'] as number);
    expect(red.confidence).toBeCloseTo(((weight('red-2') + weight('red-3')) / all) * best, 9);
    expect(painted.voters.map(({ id }) => id)).toEqual(['red-2', 'blue']);
    expect(tags.every(({ confidence }: Tag) => confidence >= 0 && confidence <= 1)).toBe(true);
  });

  it('accepts a URL, an upload and outputs, for which every document may vote', async () => {
    const expected = (await get({ 'tagging.input.preprocessed': outputsOf('red') })).tags;
    expect(expected[0]).toMatchObject({ tag: 'red', voters: [{ id: 'red', score: 1 }, {}, {}] });
    expect((await get({ 'tagging.input.url': 'http://pictures.example/red.jpg' })).tags).toEqual(expected);
    const data = Buffer.from('red').toString('base64');
    expect((await get({ 'tagging.input.data': data })).tags).toEqual(expected);
    const posted = await ask(service.gateway, `/solr/my-collection/tag/`, {
      method: 'POST',
      headers: FORM_BODY,
      body: String(new URLSearchParams({ 'tagging.input.data': `data:image/gif;base64,${data}` })),
    });
    expect(posted.json.tags).toEqual(expected);
  });

  it('accepts another field, filters the voters, and limits by number and confidence', async () => {
    const warm = await get({ 'tagging.input.id': 'red', 'tagging.field': 'category' });
    expect(warm.tags.map(({ tag }: Tag) => tag)).toEqual(['warm', 'cold']);
    const narrowed = await get({ 'tagging.input.id': 'red', fq: 'price:[2 TO *]' });
    expect(narrowed).toMatchObject({ voters: 2, tags: [{ tag: 'red' }, { tag: 'blue' }, { tag: 'painted' }] });
    expect((await get({ 'tagging.input.id': 'red', 'tagging.max': '1' })).tags).toHaveLength(1);
    const [first, second] = (await get({ 'tagging.input.id': 'red' })).tags;
    const threshold = String((first.confidence + second.confidence) / 2);
    expect((await get({ 'tagging.input.id': 'red', 'tagging.threshold': threshold })).tags).toEqual([first]);
    expect(await get({ 'tagging.input.id': 'red', fq: 'price:99' })).toMatchObject({ voters: 0, tags: [] });
    // A form with an empty filter.
    expect((await get({ 'tagging.input.id': 'red', fq: ' ' })).tags).toHaveLength(
      (await get({ 'tagging.input.id': 'red' })).tags.length,
    );
  });

  it('keeps pictures and outputs out of the log', async () => {
    const data = Buffer.from('red').toString('base64');
    await get({ 'tagging.input.data': data });
    await get({ 'tagging.input.preprocessed': outputsOf('red') });
    const logged = JSON.stringify(service.log.lines);
    expect(logged).toContain('tagging.input.preprocessed');
    expect(logged).not.toContain(data);
    expect(logged).not.toContain('content_descriptor');
  });

  it('refuses invalid requests, and says why', async () => {
    const id = { 'tagging.input.id': 'red' };
    for (const [fields, status, said] of [
      [{}, 400, 'tagging.input.id'],
      [{ ...id, 'tagging.input.url': 'http://pictures.example/red.jpg' }, 400, 'one picture'],
      [{ 'tagging.input.id': 'nosuch' }, 404, 'Parameter tagging.input.id: no document "nosuch"'],
      [{ 'tagging.input.id': 'words' }, 400, 'has no content descriptor'],
      [{ 'tagging.input.preprocessed': '{' }, 400, ''],
      [
        { 'tagging.input.preprocessed': outputsOf('red', ['color']) },
        400,
        'Parameter tagging.input.preprocessed contains no',
      ],
      [{ 'tagging.input.data': '!!' }, 400, ''],
      [{ 'tagging.input.url': 'ftp://x/y.jpg' }, 400, 'http'],
      [{ 'tagging.input.url': 'http://pictures.example/missing.jpg' }, 422, ''],
      [{ ...id, 'tagging.field': 'price' }, 400, 'not a String field'],
      [{ ...id, 'tagging.field': 'text' }, 400, 'not a String field'],
      [{ ...id, 'tagging.field': 'content_lopq' }, 400, 'not a String field'],
      [{ ...id, 'tagging.field': 'nosuch' }, 400, 'tagging.field'],
      [{ ...id, 'tagging.max': '0' }, 400, 'tagging.max'],
      [{ ...id, 'tagging.threshold': '1.5' }, 400, 'tagging.threshold'],
      [{ ...id, fq: 'price:[' }, 400, 'fq'],
    ] as const) {
      expect([fields, await get(fields)]).toEqual([fields, [status, expect.stringContaining(said)]]);
    }
  });
});
