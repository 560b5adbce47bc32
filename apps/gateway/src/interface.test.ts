import { readFile } from 'node:fs/promises';
import { ENDPOINTS, type EndpointName } from '@akin/contract';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../test/pictures.ts';
import { ask, FORM_BODY, JSON_BODY, postJson, type TestResponse } from '../test/start-gateway.ts';
import { useCollection, useService } from '../test/start-service.ts';

const service = useService();

/** The promises of the interface, tested with its own examples. */
describe('the interface', () => {
  const C = '/api/cores/my-collection';
  const get = (path: string) => ask(service.gateway, path);
  const form = (path: string, fields: Record<string, string>) =>
    ask(service.gateway, path, { body: new URLSearchParams(fields).toString(), headers: FORM_BODY });

  it('adds documents: one, or an array', async () => {
    const one = await postJson(service.gateway, `${C}/update?commit=true&openSearcher=true`, {
      id: '1',
      image: 'http://pictures.example/red.jpg',
      labels: ['shoe', 'sport'],
      location: '52.5,13.4',
      price: 12,
      weight: 1.5,
      sale: true,
      added: '2024-01-31',
      category: 'shoes',
    });
    expect([one.status, one.json.responseHeader.status]).toEqual([200, 0]);
    expect(one.json.operations).toEqual({ first: 'my-collection-1', last: 'my-collection-1', count: 1 });
    const many = await postJson(service.gateway, `${C}/update?commit=true`, [
      { id: '2', image: 'http://pictures.example/red-2.jpg', price: 20, category: 'shoes' },
      { id: '3', image: 'http://pictures.example/blue.jpg', price: 30, category: 'hats' },
    ]);
    expect([many.status, many.json.operations.count]).toEqual([200, 2]);
    conforms('update', many);
  });

  it('returns documents with their stored fields, analysis included', async () => {
    const { json } = await get(`${C}/select?q=id:1`);
    expect(json.response).toMatchObject({ numFound: 1, start: 0, numFoundExact: true });
    expect(json.response.docs[0]).toMatchObject({
      id: '1',
      image: 'http://pictures.example/red.jpg',
      labels: ['shoe', 'sport'],
      location: '52.5,13.4',
      price: 12,
      weight: 1.5,
      sale: true,
      added: '2024-01-31T00:00:00Z',
      category: 'shoes',
      color_names: ['red'],
      color_isolated: true,
      color_palette_hex: ['#E01010', '#FFFFFF'],
      color_palette_freq: [0.75, 0.25],
      copyspace: [0, 1, 8],
      color_rerank: expect.any(Number),
    });
    expect(Object.keys(json.response.docs[0])).not.toContain('content_descriptor');
    expect(Object.keys(json.response.docs[0])).not.toContain('score');
  });

  it('ranks by an indexed document, which comes first with score 1', async () => {
    const ranked = await get(`${C}/image?rank.by.id=1&rows=2`);
    const { response, responseHeader } = ranked.json;
    expect(response.docs.map(({ id }: { id: string }) => id)).toEqual(['1', '2']);
    expect([response.docs[0].score, response.maxScore, response.numFound]).toEqual([1, 1, 3]);
    expect(response.docs[1].score).toBeGreaterThan(0);
    expect(response.docs[1].score).toBeLessThan(1);
    expect(responseHeader.ranking).toBe('exact');
    conforms('image', ranked);
  });

  it('leaves the document itself out by fq=-id:1, and takes several filters', async () => {
    const without = await get(`${C}/image?rank.by.id=1&fq=-id:1`);
    expect(without.json.response.docs.map(({ id }: { id: string }) => id)).toEqual(['2', '3']);
    const filtered = await get(
      `${C}/image?rank.by.id=1&fq=-id:1&fq=category:shoes&fq=price:[15 TO *]`.replaceAll(' ', '%20'),
    );
    expect(filtered.json.response.docs.map(({ id }: { id: string }) => id)).toEqual(['2']);
  });

  it('ranks by a URL and by uploaded data', async () => {
    const byUrl = await get(
      `${C}/image?rank.by.url=${encodeURIComponent('http://elsewhere.example/blue-2.jpg')}&rows=1`,
    );
    expect(byUrl.json.response.docs[0].id).toBe('3');
    const byData = await form(`${C}/image?logParamsList=`, {
      'rank.by.data': Buffer.from('blue').toString('base64'),
      rows: '1',
    });
    expect(byData.json.response.docs[0]).toMatchObject({ id: '3', score: 1 });
  });

  it('analyzes without storing, and accepts the outputs as import', async () => {
    const analyzed = await form(`${C}/analyze?logParamsList=`, {
      'input.data': Buffer.from('green').toString('base64'),
    });
    expect(typeof analyzed.json.outputs).toBe('string');
    conforms('analyze', analyzed);
    const updated = await postJson(service.gateway, `${C}/update?commit=true`, {
      id: '4',
      image: 'file:///not/reachable.jpg',
      import: analyzed.json.outputs,
    });
    expect(updated.status).toBe(200);
    const { json } = await get(`${C}/color?rank.by.hex=0x10B020&rows=1`);
    expect(json.response.docs[0]).toMatchObject({ id: '4', score: 1, color_names: ['green'] });
    expect(json.response.docs[0].import).toBeUndefined();
  });

  it('exports the outputs of an analysis as they came, byte for byte', async () => {
    const file = new URL('../../../packages/modules/test/stored-outputs.json', import.meta.url);
    const stored: [string, string][] = Object.entries(JSON.parse(await readFile(file, 'utf8')).outputs);
    const documents = stored.map(([id, outputs]) => ({ id: `real ${id}`, import: outputs }));
    expect((await postJson(service.gateway, `${C}/update?commit=true`, documents)).status).toBe(200);
    const changes = documents.slice(0, 3).map(({ id }) => ({ id, price: { set: 1 } }));
    expect((await postJson(service.gateway, `${C}/update?commit=true`, changes)).status).toBe(200);
    const { text } = await get(`${C}/export?${new URLSearchParams({ fq: 'id:real*' })}`);
    const lines = text.trim().split('\n').slice(1);
    const exported = new Map(lines.map((line) => [JSON.parse(line).id, JSON.parse(line).import]));
    expect(exported).toEqual(new Map(documents.map(({ id, import: outputs }) => [id, outputs])));
    const names = ['content_descriptor', 'duplicate_lopq', 'color_nclusters'];
    const { json } = await get(`${C}/select?${new URLSearchParams({ q: 'id:real*', fl: `id,${names}`, rows: '99' })}`);
    expect(json.response.docs).toHaveLength(documents.length);
    for (const { id, ...shown } of json.response.docs) {
      const outputs = JSON.parse(exported.get(id));
      expect(shown).toEqual(Object.fromEntries(names.map((name) => [name, outputs[name]])));
    }
    await postJson(service.gateway, `${C}/update?commit=true`, { delete: { query: 'id:real*' } });
  });

  it('restricts the analysis to the named modules', async () => {
    await postJson(service.gateway, `${C}/update?commit=true&modules.apply=content`, {
      id: '5',
      image: 'http://pictures.example/green-2.jpg',
    });
    const { json } = await get(`${C}/select?q=id:5`);
    expect(json.response.docs[0].color_names).toBeUndefined();
    const color = await get(`${C}/color?rank.by.id=5`);
    expect([color.status, color.json.error.msg]).toEqual([400, expect.stringContaining('no color descriptor')]);
  });

  it('finds words of all strings with the field text', async () => {
    const { json } = await get(`${C}/select?q=SPORT`);
    expect(json.response.docs.map(({ id }: { id: string }) => id)).toEqual(['1']);
  });

  it('deletes by ids and by query below the legacy segment, visible after a commit', async () => {
    const S = '/solr/my-collection/update';
    const byIds = await postJson(service.gateway, S, { delete: ['4', '5'] });
    expect([byIds.status, byIds.json.operations.count]).toEqual([200, 2]);
    expect((await get(`${C}/select?rows=0`)).json.response.numFound).toBe(5);
    await postJson(service.gateway, `${S}?commit=true`, {});
    expect((await get(`${C}/select?rows=0`)).json.response.numFound).toBe(3);
    await postJson(service.gateway, `${S}?commit=true`, { delete: { query: 'category:hats' } });
    expect((await get(`${C}/select?rows=0`)).json.response.numFound).toBe(2);
    await postJson(service.gateway, `${S}?commit=true`, { delete: { query: '*:*' } });
    expect((await get(`${C}/select?rows=0`)).json.response.numFound).toBe(0);
  });

  it('writes pages that show pictures by their URL, or their thumbnail', async () => {
    await postJson(service.gateway, `${C}/update?commit=true`, [
      { id: 'a b', image: 'http://pictures.example/red.jpg', title: '<script>alert(1)</script>' },
      { id: 'x"y', image: 'javascript:alert(1)', import: outputsOf('blue') },
    ]);
    const { text, headers } = await get(`${C}/image?rank.by.id=a%20b&wt=html`);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toContain('src="http://pictures.example/red.jpg"');
    expect(text).toContain('src="/api/cores/my-collection/thumbnail?id=x%22y"');
    expect(text).toContain('<rect x="0.00" width="75.00" height="8" fill="#E01010">');
    expect(text).toContain('<div class="score">1.0</div>');
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toMatch(/<script|javascript:alert\(1\)"/);
  });

  it('accepts a body file', async () => {
    const body = Buffer.from(JSON.stringify([{ id: 'file' }]));
    const response = await ask(service.gateway, `${C}/update?commit=true`, { body, headers: JSON_BODY, chunked: true });
    expect(response.status).toBe(200);
  });
});

/** Responses have the shape of the contract. */
function conforms(name: EndpointName, response: TestResponse): void {
  const shape = ENDPOINTS[name].response;
  if (typeof shape === 'string') throw new Error(`${name} does not answer JSON`);
  expect(shape.safeParse(response.json).error?.issues ?? []).toEqual([]);
}

describe('tags', () => {
  const C = useCollection(service, 'tagged');

  beforeAll(async () => {
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
      expect(painted.voters.map(({ id }) => id)).toEqual(['red-2', 'blue']);
      expect(tags.every(({ confidence }: Tag) => confidence >= 0 && confidence <= 1)).toBe(true);
    });

    it('accepts a URL, an upload and outputs, for which every document may vote', async () => {
      const expected = (await get({ 'tagging.input.preprocessed': outputsOf('red') })).tags;
      expect(expected[0]).toMatchObject({ tag: 'red', voters: [{ id: 'red', score: 1 }, {}, {}] });
      expect((await get({ 'tagging.input.url': 'http://pictures.example/red.jpg' })).tags).toEqual(expected);
      const data = Buffer.from('red').toString('base64');
      expect((await get({ 'tagging.input.data': data })).tags).toEqual(expected);
      const posted = await ask(service.gateway, `/solr/tagged/tag/`, {
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

    it('refuses invalid requests, and says why', async () => {
      const id = { 'tagging.input.id': 'red' };
      for (const [fields, status, said] of [
        [{}, 400, 'tagging.input.id'],
        [{ ...id, 'tagging.input.url': 'http://pictures.example/red.jpg' }, 400, 'one picture'],
        [{ 'tagging.input.id': 'nosuch' }, 404, 'Parameter tagging.input.id: no document "nosuch"'],
        [{ 'tagging.input.id': 'words' }, 400, 'has no content descriptor'],
        [
          { 'tagging.input.preprocessed': outputsOf('red', ['color']) },
          400,
          'Parameter tagging.input.preprocessed contains no',
        ],
        [{ 'tagging.input.url': 'http://pictures.example/missing.jpg' }, 422, ''],
        [{ ...id, 'tagging.field': 'price' }, 400, 'not a String field'],
        [{ ...id, 'tagging.field': 'nosuch' }, 400, 'tagging.field'],
        [{ ...id, 'tagging.threshold': '1.5' }, 400, 'tagging.threshold'],
        [{ ...id, fq: 'price:[' }, 400, 'fq'],
      ] as const) {
        expect([fields, await get(fields)]).toEqual([fields, [status, expect.stringContaining(said)]]);
      }
    });
  });
});
