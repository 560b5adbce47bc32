import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { TINY_TOWERS } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import sharp from 'sharp';
import { type OwnAkin, RunningCommand, refusal, serveOnPostgres, temporaryFolder } from './akin.ts';
import { expectAccessible, openPage, startBrowser } from './browser.ts';

const COLORS = { red: '#e01010', green: '#10d020', blue: '#1020e0', yellow: '#f0e010', black: '#080808' };

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let akin: OwnAkin;
let browser: Browser;
/** Has the files of models once `isMirrorFilled`. */
let mirror: Server;
let isMirrorFilled = false;
const inPlace = (...names: string[]) => path.join(place.folder, ...names);

beforeAll(async () => {
  browser = await startBrowser();
  place = await temporaryFolder();
  mirror = createServer(async (request, response) => {
    const name = /\/resolve\/[0-9a-f]{40}\/(.+)/.exec(request.url ?? '')?.[1]?.replace('_quantized', '') ?? '';
    const bytes = isMirrorFilled ? await readFile(path.join(TINY_TOWERS, name)).catch(() => undefined) : undefined;
    // Other pixels before the network make another model than that of the command line.
    const sent =
      bytes && name === 'preprocessor_config.json'
        ? JSON.stringify({ ...JSON.parse(bytes.toString()), rescale_factor: 1 / 200 })
        : bytes;
    response.writeHead(sent ? 200 : 404).end(sent);
  });
  await new Promise<void>((resolve) => mirror.listen(0, '127.0.0.1', resolve));
  await mkdir(inPlace('pictures'));
  for (const [name, background] of Object.entries(COLORS)) {
    const bytes = await sharp({ create: { width: 90, height: 60, channels: 3, background } })
      .jpeg()
      .toBuffer();
    await writeFile(inPlace('pictures', `${name}.jpg`), bytes);
  }
});
afterAll(async () => {
  await browser?.close();
  await akin?.end();
  mirror?.close();
  await place?.remove();
});

const search = (parameters: Record<string, string | readonly string[]>) =>
  akin.client.collection('my-collection').image({ rows: 3, fl: 'id,score', ...parameters });
const found = async (parameters: Record<string, string | readonly string[]>) =>
  (await search(parameters)).response.docs.map(({ id }) => id);

const model = async () => (await akin.client.collections()).collections[0]?.model;

describe('words by a content model that knows them', () => {
  it('find the pictures that show them', async () => {
    const { port } = mirror.address() as AddressInfo;
    const models = ['--models', inPlace('models'), '--mirror', `http://127.0.0.1:${port}`];
    akin = await serveOnPostgres(['--content-model', TINY_TOWERS, ...models, inPlace('pictures')]);
    await akin.command.waitForOutput(/Three requests to paste/);
    const hash = expect.stringMatching(/^[0-9a-f]{8}$/);
    expect(await model()).toEqual({ name: 'tiny-siglip', hash, words: true, vector: 'pooled' });
    for (const word of Object.keys(COLORS)) expect((await found({ 'rank.by.text': word }))[0]).toBe(`${word}.jpg`);
    expect((await found({ 'rank.by.text': 'A picture of BLUE!' }))[0]).toBe('blue.jpg');
  });

  it('mix with each other, with pictures, minus signs, filters and thresholds', async () => {
    // Between red and green lie yellow and black.
    const between = { 'rank.by.text': ['red', 'green'], fq: '-id:black.jpg' };
    expect((await found(between))[0]).toBe('yellow.jpg');
    const without = { 'rank.by.text': ['yellow', 'green'], 'rank.weights': '1,-3' };
    expect((await found(without))[0]).toBe('red.jpg');
    const both = { 'rank.by.id': 'black.jpg', 'rank.by.text': 'blue', 'rank.weights': '1,3' };
    expect((await found({ ...both, fq: '-id:blue.jpg' }))[0]).toBe('black.jpg');
    const likely = await search({ 'rank.by.text': 'red', 'rank.threshold': '0.3' });
    expect(likely.response.docs).toEqual([{ id: 'red.jpg', score: expect.any(Number) }]);
    expect(likely.response.docs[0]?.score).toBeGreaterThan(0.7);
  });

  it('are searched in pictures and texts by the page, which says why something was found', async () => {
    const collection = akin.client.collection('my-collection');
    const yellow = await readFile(inPlace('pictures', 'yellow.jpg'));
    const { outputs } = await collection.analyze({ data: yellow.toString('base64') });
    const thumbnail = (await sharp(yellow).webp().toBuffer()).toString('base64');
    await collection.add([{ id: 'car', title: 'a green car', import: outputs, thumbnail }], {
      commit: true,
    });
    const { page, complaints } = await openPage(browser, `${akin.url}/`);
    await page.getByText('6 documents').waitFor();
    const cards = (band: string) => page.locator('.band', { hasText: band }).locator('[data-id]');
    const ids = async (band: string) =>
      Promise.all((await cards(band).all()).map((card) => card.getAttribute('data-id')));
    await page.getByRole('searchbox').fill('a green picture');
    await page.keyboard.press('Enter');
    // Names of colours are words of documents, too.
    await page.getByText('2 in the text, 4 others ranked by picture').waitFor();
    await cards('By picture: ').nth(3).waitFor();
    expect((await ids('documents with these words')).sort()).toEqual(['car', 'green.jpg']);
    expect((await ids('By picture: ')).sort()).toEqual(['black.jpg', 'blue.jpg', 'red.jpg', 'yellow.jpg']);
    await expectAccessible(page);

    const where = page.getByRole('group', { name: 'Where to search for the words' });
    await where.getByRole('button', { name: 'In pictures' }).click();
    await page
      .getByText(/, nearest first$/)
      .first()
      .waitFor();
    expect(await page.locator('.band [data-id]').first().getAttribute('data-id')).toBe('green.jpg');
    await page.getByRole('heading', { name: 'In the text' }).waitFor({ state: 'detached' });
    // The URL contains the whole search.
    await page.reload();
    await page
      .getByText(/, nearest first$/)
      .first()
      .waitFor();
    await where.getByRole('button', { name: 'In the text' }).click();
    await page.getByText('2 found').waitFor();
    await where.getByRole('button', { name: 'Both' }).click();
    await page.getByText('2 in the text').waitFor();
    // A query of the query language does not search pictures.
    await page.getByRole('searchbox').fill('id:car');
    await page.keyboard.press('Enter');
    await page.getByText('1 found').waitFor();
    await where.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await collection.deleteByIds(['car'], { commit: true });
  });

  it('come with a model that the page downloads, and new or old collections get', async () => {
    const name = 'siglip-base-patch16-224-q8';
    const { page, complaints } = await openPage(browser, `${akin.url}/?view=manage`);
    const models = page.getByRole('region', { name: 'Models' });
    await models.getByRole('button', { name: `Get ${name}` }).click();
    await models.getByRole('alert').getByText('answers 404').waitFor();
    isMirrorFilled = true;
    await models.getByRole('button', { name: `Try again ${name}` }).click();
    await models.locator('li', { hasText: name }).getByText('· here').waitFor();
    await expectAccessible(page);
    await models.getByRole('button', { name: 'Use for new collections: akin', exact: true }).click();
    await page.getByLabel('Name of the collection').fill('small');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('link', { name: 'small' }).click();
    // Until its search is answered, the page may load what is shown then once more.
    await page.getByRole('heading', { name: 'This collection is empty' }).waitFor();
    const listed = page.waitForResponse(/\/api\/cores$/);
    await page.getByRole('link', { name: 'Manage' }).click();
    await listed;
    await models.getByText('used by small').waitFor();
    // Collections as they were listed before the reindex ended arrive after it.
    await page.route(/\/api\/cores$/, async (route) => {
      const listed = await route.fetch();
      while ((await akin.client.collection('small').reindexStatus()).state !== 'done');
      await route.fulfill({ response: listed });
    });
    await models.getByRole('button', { name: `Use for small… ${name}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Analyze again' }).click();
    await models.locator('li', { hasText: name }).getByText('used by small').waitFor();
    const { collections } = await akin.client.collections();
    expect(collections.find((one) => one.name === 'small')?.model).toMatchObject({ name, words: true });
    await akin.client.collection('small').drop();
    expect(complaints).toEqual([]);
  });

  it('that are cut off cause a warning', async () => {
    const { responseHeader, response } = await search({ 'rank.by.text': `red ${'picture '.repeat(40)}` });
    expect(responseHeader.warnings).toEqual([
      expect.stringMatching(/^The text "red picture.* is too long for the model/),
    ]);
    expect(response.docs[0]?.id).toBe('red.jpg');
  });

  it('are refused if they are blank, missing or too many', async () => {
    for (const [parameters, message] of [
      [{ 'rank.by.text': 'red', 'rank.mode': 'color' }, /rank.by.text cannot rank by color.*rank.mode=content/],
      [{ 'rank.by.text': '  ' }, /rank.by.text has 0 characters; 1 to 1000 are allowed/],
      [{ 'rank.by.text': 'x'.repeat(1001) }, /has 1001 characters/],
    ] as const) {
      expect(await refusal(search(parameters))).toEqual([400, expect.stringMatching(message)]);
    }
    // Odd texts work.
    for (const text of ['👩‍👩‍👧 ثوب', '</s><pad>', '!?', 'x'.repeat(1000)]) {
      expect(await found({ 'rank.by.text': text })).toHaveLength(3);
    }
  });

  it('are also described by analyze nodes', async () => {
    const node = new RunningCommand(['analyze-node', '--port', '0', '--content-model', TINY_TOWERS]);
    try {
      const [, url] = await node.waitForOutput(/(http:\/\/127\.0\.0\.1:\d+)/);
      const response = await fetch(`${url}/api/cores/any/analyze?input.text=${encodeURIComponent('red '.repeat(20))}`);
      const { outputs, responseHeader } = (await response.json()) as { outputs: string; responseHeader: object };
      expect(responseHeader).toMatchObject({ warnings: [expect.stringContaining('is too long')] });
      expect((await found({ 'rank.by.outputs': outputs }))[0]).toBe('red.jpg');
    } finally {
      await node.stop();
    }
  });
});
