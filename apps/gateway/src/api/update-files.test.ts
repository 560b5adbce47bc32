import { describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { CORES, SOLR, updatedService } from '../../test/updated-service.ts';

const { send, ids } = updatedService(() => {});

type Entry = readonly [name: string, value: string | Blob];
async function upload(path: string, ...entries: readonly Entry[]) {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value as Blob);
  const written = new Response(form);
  return send(path, {
    body: Buffer.from(await written.arrayBuffer()),
    headers: { 'content-type': written.headers.get('content-type') ?? '' },
  });
}
const picture = (name: string): Entry => ['file', new Blob([name], { type: 'image/jpeg' })];
const document = (value: unknown): Entry => ['document', typeof value === 'string' ? value : JSON.stringify(value)];
const refusal = ({ status, json }: { status: number; json: { error: { msg: string } } }) => [status, json.error.msg];

describe.each([CORES, SOLR])('a document that comes with its picture at %s', (path) => {
  const collection = path.replace(/\/update$/, '');

  it('is stored with outputs and thumbnail, and its URL is not fetched', async () => {
    const sent = { id: 'with picture', image: 'photos/missing.jpg', labels: ['a'], n: 7 };
    const response = await upload(`${path}?commit=true`, document(sent), picture('red'));
    expect([response.status, response.json.operations?.count]).toEqual([200, 1]);
    const found = await send(`${collection}/image?rank.by.outputs=${encodeURIComponent(outputsOf('red'))}`);
    expect(found.json.response.docs[0]).toMatchObject({ ...sent, score: 1, color_names: ['red'] });
    const thumbnail = await send(`${collection}/thumbnail?id=with+picture`);
    expect([thumbnail.headers['content-type'], thumbnail.text]).toEqual(['image/webp', 'RIFF0000WEBPred']);
  });

  it('gets the fields of its file if that is wanted, unless it has them itself', async () => {
    const first = ['file', new File(['red'], 'IMG_1.jpg')] as const;
    await upload(`${path}?commit=true&fields=true`, document({ id: 'facts' }), first);
    const fields = async (id: string) =>
      (await send(`${collection}/get?id=${id}&fl=id,width,bytes,caption,labels,keywords`)).json.doc;
    const read = { width: 40, bytes: 3, caption: 'IMG_1.jpg', keywords: 'lake; sun', labels: ['lake', 'sun'] };
    expect(await fields('facts')).toEqual({ id: 'facts', ...read });
    await upload(`${path}?commit=true&fields=true`, document({ id: 'own', width: 7, labels: ['a'] }), first);
    expect(await fields('own')).toEqual({ id: 'own', ...read, width: 7, labels: ['a'] });
    await upload(`${path}?commit=true`, document({ id: 'alone' }), first);
    expect(await fields('alone')).toEqual({ id: 'alone' });
  });

  it('is analyzed only by the requested modules', async () => {
    await upload(`${path}?commit=true&modules.apply=color`, document({ id: 'colours' }), picture('blue'));
    const { doc } = (await send(`${collection}/get?id=colours&fl=color_names,content_descriptor,copyspace`)).json;
    expect(doc).toEqual({ color_names: ['blue'] });
  });

  it('is refused as a whole if its picture or the document is invalid', async () => {
    expect((await upload(path, document({ id: 'b' }), picture('broken'))).status).toBe(422);
    expect(refusal(await upload(path, document({ id: 'b', labels: [{}] }), picture('red')))).toEqual([
      400,
      expect.stringContaining('"labels"'),
    ]);
    const wrong: readonly (readonly [Entry[], string])[] = [
      [[document({ id: 'b' })], 'one part "document"'],
      [[picture('red')], 'one part "document"'],
      [[document({ id: 'b' }), picture('red'), picture('blue')], 'one part "document"'],
      [[document({ id: 'b' }), document({ id: 'c' }), picture('red')], 'one part "document"'],
      [[document({ id: 'b' }), picture('red'), ['commit', 'true']], 'in the URL'],
      [[document([{ id: 'b' }]), picture('red')], 'must be one document'],
      [[document('{"id":'), picture('red')], 'line 1, column 7'],
      [[document({ id: 'b', import: '{}' }), picture('red')], '"import"'],
      [[document({ id: 'b' }), ['file', new Blob([])]], 'is empty'],
    ];
    for (const [entries, problem] of wrong) {
      expect(refusal(await upload(path, ...entries))).toEqual([400, expect.stringContaining(problem)]);
    }
    expect(refusal(await upload(`${path}?async=true`, document({ id: 'b' }), picture('red')))).toEqual([
      400,
      expect.stringContaining('async'),
    ]);
    await send(`${path}?commit=true`, { body: '' });
    expect(await ids('&q=id:(b+c)')).toEqual([]);
  });
});

describe.each([CORES, SOLR])('lines of JSON at %s', (path) => {
  const lines = (text: string, type = 'application/x-ndjson') =>
    send(`${path}?commit=true`, { body: text, headers: { 'content-type': type } });

  it('are documents, stored all or none', async () => {
    expect((await lines('{"id":"l1","n":1}\n\n\r\n{"id":"l2","delete":"x"}')).json.operations.count).toBe(2);
    expect((await lines('{"id":"l3"}\n', 'application/jsonl; charset=utf-8')).status).toBe(200);
    expect(await ids('&q=id:l*')).toEqual(['l1', 'l2', 'l3']);
  });

  it('are refused with the number of the line', async () => {
    const response = await lines('{"id":"l4"}\n\n{"n":1}\n{"id":"l5","n":"no number"}\n[]\n');
    expect(
      response.json.error.details.map(({ position, msg }: { position: number; msg: string }) => [position, msg]),
    ).toEqual([
      [1, expect.stringMatching(/^Line 3: .*"id" is required/)],
      [2, expect.stringMatching(/^Line 4: .*"n"/)],
      [3, expect.stringMatching(/^Line 5: /)],
    ]);
    expect(refusal(await lines('{"id":"l4"}\n{"id":'))).toEqual([400, expect.stringContaining('line 2, column 7')]);
    expect(await ids('&q=id:l4')).toEqual([]);
  });

  it('are refused with the number of the line also for errors found at the end', async () => {
    const conflict = await lines(
      '\n{"id":"l6","_version_":-1}\n\n\n{"id":"l7","_version_":5}\n{"id":"l8","_version_":1}\n',
    );
    expect(refusal(conflict)).toEqual([409, expect.stringMatching(/^Line 5: Document "l7" at position 1: /)]);
    expect(conflict.json.error.details.map(({ msg }: { msg: string }) => msg.slice(0, 7))).toEqual([
      'Line 5:',
      'Line 6:',
    ]);
    const image = 'http://pictures.example/broken.jpg';
    const unread = await lines(`{"id":"l4"}\n\n{"id":"l9","image":"${image}"}\n`);
    expect(unread.json.error.details).toMatchObject([
      { position: 1, msg: expect.stringMatching(/^Line 3: Document "l9"/) },
    ]);
    await send(`${SOLR}?commit=true`, { body: '{"delete":["l4"]}', headers: { 'content-type': 'application/json' } });
    expect(await ids('&q=id:l4')).toEqual([]);
  });
});
