import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type OwnAkin, PROGRAM, runAkin, serveOnPostgres } from './akin.ts';
import { copyOf, picture, servePictures } from './pictures.ts';

let akin: OwnAkin;
let agent: Client;
beforeAll(async () => {
  akin = await serveOnPostgres();
  agent = new Client({ name: 'agent', version: '1' });
  await agent.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, 'mcp'],
      env: { AKIN_URL: akin.url },
      cwd: akin.folder,
      stderr: 'pipe',
    }),
  );
});
afterAll(async () => {
  await agent?.close();
  await akin?.end();
});

/** The answer of a tool, or the text of its error. */
// biome-ignore lint/suspicious/noExplicitAny: JSON
async function call(name: string, given: Record<string, unknown> = {}): Promise<any> {
  const { content, isError } = await agent.callTool({ name, arguments: given });
  const [{ text = '' } = {}] = content as { text?: string }[];
  return isError ? text : JSON.parse(text);
}

it('lets an agent add pictures and find similar ones, copies, colours and documents', async () => {
  await using pictures = await servePictures();
  const { tools } = await agent.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...['describe_collection', 'find_similar', 'find_copies', 'search', 'add_picture'],
  ]);
  await writeFile(path.join(akin.folder, 'shoe.jpg'), await picture(3));
  await writeFile(path.join(akin.folder, 'copy.jpg'), await copyOf(await picture(3)));
  expect(
    await call('add_picture', { id: 'shoe', picture: 'shoe.jpg', fields: { brand: 'Ada & Co', price: 12.5 } }),
  ).toEqual({ document: { id: 'shoe', brand: 'Ada & Co', price: 12.5 } });
  await call('add_picture', { id: 'boot', picture: `${pictures.url}/1.jpg`, fields: { brand: 'Grace', price: 40.5 } });

  const { fields, ...description } = await call('describe_collection');
  expect(description).toEqual({ documents: 2, words: false });
  expect(fields).toMatchObject({ brand: 'string', price: 'double', labels: 'string, several' });
  expect(fields).not.toHaveProperty('content_descriptor');
  const ids = async (name: string, given: Record<string, unknown>) =>
    (await call(name, given)).documents.map(({ id }: { id: string }) => id);
  expect(await ids('find_similar', { id: 'shoe' })).toEqual(['boot']);
  expect(await ids('find_similar', { file: 'shoe.jpg' })).toEqual(['shoe', 'boot']);
  expect(await ids('find_similar', { url: `${pictures.url}/1.jpg`, limit: 1 })).toEqual(['boot']);
  expect(await ids('find_similar', { color: '#e03c31', filter: 'brand:"Ada & Co"' })).toEqual(['shoe']);
  expect(await ids('find_copies', { file: 'copy.jpg' })).toEqual(['shoe']);
  expect(await call('search', { query: 'ada', filter: ['price:[* TO 20]'], fields: ['price'] })).toMatchObject({
    documents: [{ id: 'shoe', price: 12.5, score: expect.any(Number) }],
    total: 1,
  });
  expect((await call('search', { facets: ['brand'], sort: 'price desc' })).facets).toEqual({
    brand: [
      { value: 'Ada & Co', count: 1 },
      { value: 'Grace', count: 1 },
    ],
  });
});

it('tells the agent what is wrong, and goes on', async () => {
  await writeFile(path.join(akin.folder, 'notes.txt'), 'no picture');
  expect(await call('find_similar')).toContain('needs id, file, url');
  expect(await call('find_similar', { id: 'nobody' })).toContain('"nobody"');
  expect(await call('find_similar', { text: 'a red shoe' })).toContain('words');
  expect(await call('search', { filter: 'prize:1' })).toContain('"prize"');
  expect(await call('search', { limit: 1_000 })).toContain('limit');
  expect(await call('add_picture', { id: 'x', picture: 'none.jpg' })).toContain('none.jpg');
  expect(await call('add_picture', { id: 'x', picture: 'notes.txt' })).toContain('not an image');
  expect((await call('search')).total).toBe(2);
});

it('ends when the agent ends, and does not begin without an akin', async () => {
  expect(await runAkin(['mcp', '--url', akin.url])).toMatchObject({ code: 0, out: '', err: '' });
  expect((await runAkin(['mcp', '--url', 'http://127.0.0.1:9'])).err).toContain('No akin answers');
  expect((await runAkin(['mcp', '--url', akin.url, '--collection', 'nowhere'])).err).toContain('"nowhere"');
});
