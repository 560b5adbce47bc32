import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Collection } from '@akin/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { type OwnAkin, runInTurn, serveOnPostgres } from './akin.ts';
import { picture } from './pictures.ts';

/** More than a request of an import contains. */
const SEVERAL_REQUESTS = 1_200;

let akin: OwnAkin;
let pictures: Server;
let host: string;

beforeAll(async () => {
  const bytes = await picture(1);
  pictures = createServer((request, response) => {
    if (request.url?.startsWith('/picture')) response.setHeader('content-type', 'image/jpeg').end(bytes);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => pictures.listen(0, '127.0.0.1', resolve));
  host = `http://127.0.0.1:${(pictures.address() as AddressInfo).port}`;
  akin = await serveOnPostgres();
});
afterAll(async () => {
  await akin?.end();
  pictures?.close();
});

const file = (name: string) => path.join(akin.folder, name);
const run = (command: string, collection: string, ...args: string[]) =>
  runInTurn([command, '--url', akin.url, '--collection', collection, ...args]);

async function write(name: string, lines: readonly (object | string)[]): Promise<string> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  await writeFile(file(name), name.endsWith('.gz') ? gzipSync(text) : text);
  return file(name);
}

async function rejects(name: string): Promise<{ line?: number; id?: string; reason: string }[]> {
  const text = await readFile(`${file(name)}.rejects.ndjson`, 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const many = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ id: `document ${i}`, place: i, ...more }));

describe('akin import', () => {
  it('stores a table with its local pictures, fetches addresses, and says what it cannot store', async () => {
    await mkdir(file('photos'));
    await writeFile(file('photos/a.png'), await picture(1));
    await mkdir(file('photos/über'.normalize('NFD')));
    await writeFile(file('photos/über/b.png'.normalize('NFD')), await picture(2));
    await writeFile(file('photos/broken.jpg'), 'GIF89a');
    await writeFile(file('secret.png'), await picture(3));
    await symlink(file('secret.png'), file('photos/link.png'));
    const rows = [
      'sku;file;price;ean',
      '007;a.png;12,50;00123',
      `8;${'über/b.png'.normalize('NFC')};9;5`,
      `9;${host}/picture.jpg;1.000,5;6`,
      '10;;7;7',
      '11;../secret.png;1;1',
      '12;link.png;1;1',
      `13;${file('secret.png')};1;1`,
      '14;broken.jpg;1;1',
      '15;none.png;1;1',
      `16;${file('photos/a.png')};1`,
      ';a.png;1;1',
      `007;${file('photos/a.png')};13;1`,
      // Replaces nothing: it is refused.
      '007;;many;1',
    ];
    await writeFile(file('products.csv'), rows.join('\n'));
    const table = ['--id-column', 'sku', '--picture-column', 'file', '--pictures', file('photos')];
    const numbers = ['--separator', ';', '--decimal-comma', '--field', 'price:double'];
    const { code, out, err } = await run('import', 'products', file('products.csv'), ...table, ...numbers);
    expect([code, out + err]).toEqual([2, expect.stringMatching(/^5 accepted/)]);
    expect(out).toContain('line 13 replaces line 2: both have the id "007"');
    const reasons = await rejects('products.csv');
    expect(reasons.map(({ line }) => line)).toEqual([6, 7, 8, 9, 10, 11, 12, 14]);
    expect(out).toContain('1 row has the id of an earlier row');
    const [above, link, absolute, broken, none, short, nameless] = reasons.map(({ reason }) => reason);
    for (const reason of [above, link, absolute]) expect(reason).toContain(`is outside of ${file('photos')}`);
    expect(above).toContain('"../secret.png"');
    expect(broken).toContain('"broken.jpg"');
    expect(none).toBe('The picture "none.png": it does not exist');
    expect(short).toBe('The row has 3 cells, the first row has 4.');
    expect(nameless).toBe('The row has no sku.');
    const collection = akin.client.collection<{ price: number; ean: string }>('products');
    const known = { source: file('photos'), bytes: expect.any(Number), file_hash: expect.any(Number) };
    expect(await collection.get(['007', '8', '9', '10'])).toEqual([
      { id: '007', file: file('photos/a.png'), price: 13, ean: '1', ...known, path: 'a.png' },
      {
        id: '8',
        file: 'über/b.png'.normalize('NFC'),
        price: 9,
        ean: '5',
        ...known,
        path: 'über/b.png'.normalize('NFD'),
      },
      { id: '9', image: `${host}/picture.jpg`, price: 1000.5, ean: '6' },
      { id: '10', price: 7, ean: '7' },
    ]);
    const { documents } = await collection.similar({ file: file('photos/a.png') }, { threshold: 0.999, fields: [] });
    expect(documents.map(({ id }) => id)).toEqual(['007', '9']);
    const response = await fetch(collection.thumbnailAddress('8'));
    expect(response.headers.get('content-type')).toBe('image/webp');
    const original = await fetch(collection.originalAddress('8'));
    expect([original.status, Buffer.from(await original.arrayBuffer())]).toEqual([200, await picture(2)]);
  });

  it('reads lines, compressed lines, an array and a table, and reports the number of documents', async () => {
    const documents = many(SEVERAL_REQUESTS);
    await write('lines.ndjson', documents);
    await write('packed.ndjson.gz', documents);
    await writeFile(file('array.json'), `\n ${JSON.stringify(documents.slice(0, 3), null, 1)}`);
    for (const [name, count] of [
      ['lines.ndjson', SEVERAL_REQUESTS],
      ['packed.ndjson.gz', SEVERAL_REQUESTS],
      ['array.json', 3],
    ] as const) {
      const { code, out } = await run('import', 'formats', file(name));
      expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`^${count} accepted .*visible after`))]);
    }
    expect((await akin.client.collection('formats').status()).documents).toBe(SEVERAL_REQUESTS);
    await writeFile(file('table.csv'), ['id,sku,price,labels,sizes', '1,7,9.5,a|b,S', '2,A7,12,b,41|M'].join('\n'));
    const table = ['--field', 'sku:string,price:double', '--lists', 'labels,sizes'];
    expect((await run('import', 'table', file('table.csv'), ...table)).out).toMatch(/^2 accepted/);
    expect(
      (await akin.client.collection('table').select({ q: 'sku:A7 AND labels:b AND price:[11 TO *] AND sizes:41' }))
        .response.numFound,
    ).toBe(1);
  });

  it('skips wrong documents, reports their lines and reasons, and ends with 2', async () => {
    const lines: (object | string)[] = many(30);
    lines[3] = '{"id":"broken"';
    lines[7] = { id: 'odd', place: 'nowhere' };
    lines[8] = { place: 1 };
    lines[9] = '';
    // Valid JSON that cannot be stored: akin refuses the whole request.
    lines[20] = `{"id":"deep","place":${'['.repeat(500)}${']'.repeat(500)}}`;
    await write('wrong.ndjson', lines);
    const { code, out } = await run('import', 'wrong', file('wrong.ndjson'));
    expect([code, out]).toEqual([
      2,
      expect.stringMatching(/^25 accepted.*4 failed: .*wrong\.ndjson\.rejects\.ndjson/s),
    ]);
    const found = await rejects('wrong.ndjson');
    expect(found.map(({ line }) => line).sort((a, b) => Number(a) - Number(b))).toEqual([4, 8, 9, 21]);
    expect(found.find(({ line }) => line === 8)).toEqual({
      line: 8,
      id: 'odd',
      reason: expect.stringContaining('"place"'),
    });
    expect((await akin.client.collection('wrong').status()).documents).toBe(25);
  });

  it('waits for pictures, and reports those that could not be fetched', async () => {
    await write('pictures.ndjson', [
      { id: 'there', image: `${host}/picture.jpg` },
      { id: 'gone', image: `${host}/gone.jpg` },
      { id: 'none' },
    ]);
    const { code } = await run('import', 'pictures', file('pictures.ndjson'));
    expect(code).toBe(2);
    expect(await rejects('pictures.ndjson')).toEqual([{ line: 2, id: 'gone', reason: expect.stringMatching(/404/) }]);
    const { response } = await akin.client.collection('pictures').select({ q: 'color_rerank:*' });
    expect(response.docs.map(({ id }) => id)).toEqual(['there']);
  });

  it('says what is wrong with a command, stores nothing then, and creates no collection', async () => {
    const precious = await write('precious.ndjson', many(1));
    await writeFile(file('headless.csv'), 'sku,file,price\n1,a.png,2\n');
    const ofTable = [file('headless.csv'), '--id-column', 'sku'];
    for (const [args, message] of [
      [[precious, '--rejects', precious], '--rejects names the input'],
      [[precious, '--rejects', file('is/not/there.ndjson')], 'there is no folder'],
      [[file('is-not-there.ndjson')], 'cannot be read'],
      // The system refuses to read it, also to root.
      [['/proc/self/mem', '--rejects', file('refused.ndjson')], '/proc/self/mem cannot be read: EIO'],
      [[file('headless.csv')], 'no column id; columns are sku, file, price: use --id-column'],
      [[...ofTable, '--pictures', 'x'], '--pictures needs --picture-column'],
      [[...ofTable, '--picture-column', 'file', '--pictures', precious], 'it is not a folder'],
    ] as const) {
      const { code, err } = await run('import', 'wrongly-asked', ...args);
      expect([code, err]).toEqual([1, expect.stringContaining(message)]);
      expect(err).not.toContain('    at ');
    }
    expect(await readFile(precious, 'utf8')).toContain('document 0');
    const { collections } = await akin.client.collections();
    expect(collections.map(({ name }) => name)).not.toContain('wrongly-asked');
  });
});

describe('akin export', () => {
  /** Everything that a document may contain, as texts that JSON.stringify would not write. */
  const ODD = [
    '{"id":"a","price":5,"exact":5.0,"long":9223372036854775807,"yes":true,"taken":"2024-02-29T23:59:59.123Z","note":"plain"}',
    '{"id":"b","long":-9223372036854775808,"exact":-0.0,"yes":false,"taken":"2024-01-01","note":"2024-01-01"}',
    '{"id":"🙂 ü \\u0000"}',
    '{"id":"c","exact":1e300,"note":"  \\u2028 \\"quoted\\" \\\\ \\n 图片 \\ud83d\\ude00 ﷽","labels":["b","a","b",""],"location":"-90,180"}',
    '{"id":"d:e f/\\"g\\"","exact":0.1,"note":"12","odd name: \\\\ \\"x\\"":"value","labels":["one"]}',
    '{"id":"replaced","note":"before"}',
    '{"id":"replaced","note":"after"}',
    '{"id":"deleted","note":"gone"}',
  ];

  async function results(collection: Collection): Promise<string> {
    const parameters = { q: '*:*', sort: 'id asc', rows: 100, fl: '*,content_descriptor,content_lopq,color_nclusters' };
    const url = collection.searchAddress('select', { ...parameters, omitHeader: true });
    const all = await (await fetch(`${url}`)).text();
    const ranked = await fetch(
      collection.searchAddress('image', { 'rank.by.id': 'drawn', rows: 10, omitHeader: true }),
    );
    const schema = await collection.schema();
    return `${all}\n${await ranked.text()}\n${JSON.stringify(schema.schema.fields.sort((a, b) => (a.name < b.name ? -1 : 1)))}`;
  }

  it('writes a file from which an import makes the same collection', async () => {
    const collection = akin.client.collection('odd');
    await collection.create();
    await write('odd.ndjson', ODD);
    const first = await run('import', 'odd', file('odd.ndjson'));
    expect([first.code, await rejects('odd.ndjson')]).toEqual([2, [expect.objectContaining({ line: 3 })]]);
    const bytes = await picture(2);
    const { outputs } = await collection.analyze({ data: bytes.toString('base64') });
    const thumbnail = await sharp(bytes).resize(100).webp().toBuffer();
    await collection.add(
      [
        { id: 'drawn', import: outputs, thumbnail: thumbnail.toString('base64'), image: 'https://example.org/a.jpg' },
        { id: 'fetched', image: `${host}/picture.jpg` },
      ],
      { commit: true },
    );
    await collection.deleteByIds(['deleted'], { commit: true });

    const before = await results(collection);
    const small = await (await fetch(collection.thumbnailAddress('fetched'))).arrayBuffer();
    const exported = await run('export', 'odd', '-o', file('odd.export.ndjson.gz'));
    expect([exported.code, exported.err]).toEqual([0, expect.stringMatching(/7 documents of commit \d+/)]);
    await collection.drop();
    const imported = await run('import', 'odd', file('odd.export.ndjson.gz'));
    expect([imported.code, imported.out]).toEqual([0, expect.stringContaining('7 accepted')]);
    expect(before).toContain('9223372036854775807');
    expect(before).toContain('-0.0');
    expect(await results(collection)).toBe(before);
    expect(await (await fetch(collection.thumbnailAddress('fetched'))).arrayBuffer()).toEqual(small);
    expect(Buffer.from(await (await fetch(collection.thumbnailAddress('drawn'))).arrayBuffer())).toEqual(thumbnail);
  });

  it('writes matching documents to standard output', async () => {
    const { code, out } = await run('export', 'odd', '--q', 'note:plain OR id:b');
    expect(code).toBe(0);
    const [header = '', ...lines] = out.trim().split('\n');
    expect(JSON.parse(header)['akin-export'].fields).toMatchObject({ long: 'long', exact: 'double', note: 'string' });
    expect(lines.map((line) => JSON.parse(line).id).sort()).toEqual(['a', 'b']);
    const filtered = await run('export', 'odd', '--fq', 'note:*', '--fq=-note:plain', '--fq', 'long:*');
    expect(filtered.out.match(/"id":"\w+"/g)).toEqual(['"id":"b"']);
  });
});
