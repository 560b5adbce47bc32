import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type OwnAkin, PROGRAM, RunningCommand, runAkin, runInTurn, serveOnPostgres, until } from './akin.ts';
import { testedBlock } from './examples.ts';
import { run as shell } from './shell.ts';

/** Several requests of an import, and more than the buffers of a pipe hold. */
const KILLED = 3_000;
/** More than a request of an import contains. */
const SEVERAL_REQUESTS = 1_200;

let akin: OwnAkin;
beforeAll(async () => {
  akin = await serveOnPostgres();
});
afterAll(() => akin?.end());

const file = (name: string) => path.join(akin.folder, name);
const run = (command: string, collection: string, ...args: string[]) =>
  runInTurn([command, '--url', akin.url, '--collection', collection, ...args]);

async function write(name: string, lines: readonly (object | string)[]): Promise<string> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  await writeFile(file(name), text);
  return file(name);
}

const many = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ id: `document ${i}`, place: i, ...more }));

describe('akin import', () => {
  it('continues where it was killed, publishes what was accepted before, and keeps the order of each id', async () => {
    const documents = many(KILLED, { note: 'x'.repeat(200) });
    documents.push(...documents.slice(2_000).map((document) => ({ ...document, note: 'last' })));
    await write('killed.ndjson', documents);
    const left = `${file('killed.ndjson')}.progress`;
    /** Leaves without a response what would bring a run to its end. */
    let isHeld = (_url: string, _updates: number) => false;
    let updates = 0;
    const door = createServer((request, response) => {
      const url = request.url as string;
      if (url.includes('/update?') && !url.includes('commit=')) updates += 1;
      if (isHeld(url, updates)) return;
      const { method, headers } = request;
      request.pipe(
        forward(new URL(url, akin.url), { method, headers }, (reply) => {
          reply.pipe(response.writeHead(reply.statusCode as number, reply.headers));
        }),
      );
    });
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
    const args = ['import', file('killed.ndjson'), '--url', url, '--collection', 'killed', '--parallel', '1'];
    /** Kills a run that has got that far. */
    const killAfter = async (lines: number, says: RegExp) => {
      const command = new RunningCommand(args);
      await until('it wrote how far it is', async () => {
        const text = await readFile(left, 'utf8').catch(() => '{}');
        return (JSON.parse(text).start?.lines ?? 0) >= lines;
      });
      await command.waitForOutput(says);
      await command.stop('SIGKILL');
    };
    isHeld = (asked, count) => asked.includes('/update') && count > 1;
    await killAfter(1_000, /^/);
    isHeld = (asked) => asked.includes('commit=');
    await killAfter(documents.length, /Starts at line [1-3]\d{3}/);
    isHeld = () => false;
    const { code, out } = await runAkin(args);
    expect([code, out]).toEqual([0, expect.stringMatching(/^(\d+) accepted, \1 of them by earlier runs/)]);
    const collection = akin.client.collection('killed');
    expect((await collection.status()).documents).toBe(KILLED);
    expect((await collection.select({ q: 'note:last', rows: 0 })).response.numFound).toBe(1_000);
    expect(await readFile(left).catch(() => 'gone')).toBe('gone');
    door.closeAllConnections();
    door.close();
  });

  it('starts at the beginning if the collection was dropped and created again', async () => {
    await write('again.ndjson', [...many(SEVERAL_REQUESTS), 'no JSON', { id: 'behind' }]);
    const stopped = await run('import', 'again', file('again.ndjson'), '--strict');
    expect(stopped).toMatchObject({ code: 2, out: expect.stringContaining(`Line ${SEVERAL_REQUESTS + 1}`) });
    const collection = akin.client.collection('again');
    const { newest } = JSON.parse(await readFile(`${file('again.ndjson')}.progress`, 'utf8'));
    expect(newest.token).not.toBe('');
    await collection.drop();
    await collection.create();
    const { code, err } = await run('import', 'again', file('again.ndjson'));
    expect([code, err]).toEqual([2, expect.stringContaining('Starts at the beginning')]);
    expect((await collection.status()).documents).toBe(SEVERAL_REQUESTS + 1);
  });

  it('reads from a pipe, and does not replace the pipe by a file of rejected documents', async () => {
    await write('piped.ndjson', [{ id: 'a' }, { title: 'no id' }, { id: 'b' }]);
    const akinCommand = `'${process.execPath}' '${PROGRAM}'`;
    const script = `mkfifo in out && { cat piped.ndjson >in & } && { cat out >refused & } && { ${akinCommand} import in --rejects out --url ${akin.url} --collection piped || test $? = 2; } && wait && test -p out && cat refused`;
    const out = await shell('sh', ['-c', script], { cwd: akin.folder, install: 'apt-get install coreutils' });
    expect(out).toMatch(/2 accepted.*\{"line":2,"reason":".*id.*required/s);
  });

  it('ends at a refused line of packed input, which goes on', async () => {
    const args = ['import', '-', '--strict', '--url', akin.url, '--collection', 'packed'];
    const ended = runAkin([...args, '--rejects', file('refused')], { input: gzipSync('no JSON\n'), isInputOpen: true });
    expect(await ended).toMatchObject({ code: 2, out: expect.stringContaining('Line 1') });
  });

  it('stops while its input sends nothing', async () => {
    const collection = akin.client.collection('idle');
    await collection.create();
    const args = ['import', '-', '--url', akin.url, '--collection', 'idle'];
    const idle = new RunningCommand(args, { input: '{"id":"a"}\n', isInputOpen: true });
    await until('the line is accepted', async () => (await collection.operations({ limit: 1 })).operations.length > 0);
    expect(await idle.stop()).toMatchObject({ code: 130, out: expect.stringMatching(/Stopped: [01] accepted/) });
  });
});

describe('akin export', () => {
  it('leaves the unfinished file of another export, and does not replace a folder', async () => {
    await write('shared.ndjson.partial', ['of another']);
    expect((await run('export', 'piped', '-o', file('shared.ndjson'))).code).toBe(0);
    expect(await readFile(file('shared.ndjson.partial'), 'utf8')).toBe('of another');
    expect((await readdir(akin.folder)).filter((name) => name.startsWith('shared.'))).toHaveLength(2);
    const folder = await run('export', 'piped', '-o', akin.folder);
    expect([folder.code, folder.err]).toEqual([1, expect.stringContaining('is a folder')]);
  });

  it('waits for a slow reader without a warning, and ends when its reader has ended', async () => {
    const exportAll = `'${process.execPath}' '${PROGRAM}' export --url ${akin.url} --collection killed`;
    const sh = (script: string) =>
      shell('sh', ['-c', script], { cwd: akin.folder, install: 'apt-get install coreutils' });
    const slow = await sh(`${exportAll} 2>told | { dd bs=1 count=100000 2>dd; cat; } | wc -l; cat told`);
    expect(slow).toMatch(new RegExp(`^${KILLED + 1}\\n`));
    expect(slow).not.toContain('Warning');
    const left = await sh(`{ ${exportAll} 2>told; echo "ended with $?" >>told; } | head -n 1 >first; cat told`);
    expect(left).toMatch(/Standard output cannot be written: write EPIPE\nended with 1\n$/);
    expect(left).not.toContain('Warning');
  });
});

describe('the page about bulk', () => {
  it('has commands that work as written', async () => {
    const block = testedBlock(await readFile(new URL('../../docs/bulk.md', import.meta.url), 'utf8'), 'bulk');
    expect(block.match(/^npx akin-search /gm)).toHaveLength(5);
    await write('products.ndjson', [
      { id: 'cheap', price: 5 },
      { id: 'dear', price: 50 },
    ]);
    const akinCommand = `'${process.execPath}' '${PROGRAM}'`;
    const script = `set -e\nexport AKIN_URL=${akin.url}\n${block.replaceAll('npx akin-search', akinCommand).replaceAll('http://127.0.0.1:8983', akin.url)}`;
    const out = await shell('sh', ['-c', script], { cwd: akin.folder, install: 'apt-get install curl' });
    expect(out).toMatch(/2 accepted.*2 accepted.*1 accepted.*shop is reindexed: 2 documents copied/s);
    expect(out).toMatch(/retry: 2000\n\nevent: operation\n/);
    expect((await akin.client.collection('dear').select({})).response.docs).toMatchObject([{ id: 'dear', price: 50 }]);
    const { schema } = await akin.client.collection('shop').schema();
    expect(schema.fields.find(({ name }) => name === 'price')?.type).toBe('double');
  });
});
