import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { createClient } from '@akin/client';
import type { TestDatabase } from '@akin/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import sharp from 'sharp';
import { akinDatabase, runAkin, type ServingAkin, serveAkin, temporaryFolder, until } from './akin.ts';
import { openPage, startBrowser } from './browser.ts';
import { copiedBy, settled } from './demo-page.ts';

const PICTURE = await sharp({ create: { width: 120, height: 90, channels: 3, background: '#c03020' } })
  .png()
  .toBuffer();

let data: Awaited<ReturnType<typeof temporaryFolder>>;
let database: TestDatabase;
let akin: ServingAkin;
let browser: Browser;
let key: string;
let limited: string;
let adminKey: string;

beforeAll(async () => {
  browser = await startBrowser();
  [data, database] = await Promise.all([temporaryFolder(), akinDatabase()]);
  const where = ['--data', data.folder, '--database-url', database.url];
  const { code, out, err } = await runAkin(['keys', 'create', '--scope', 'admin', ...where]);
  expect([code, err]).toEqual([0, expect.stringContaining('shown only once')]);
  adminKey = out.trim();
  const scans = path.join(data.folder, 'scans');
  await mkdir(scans);
  await sharp(PICTURE).resize(600).tiff().toFile(path.join(scans, 'wall.tiff'));
  akin = await serveAkin([scans, '--collection', 'scans', ...where, '--require-keys']);
  await akin.command.waitForOutput(/1 indexed/);
  const client = createClient({ baseUrl: akin.url, key: adminKey });
  key = (await client.createKey({ scope: 'search' })).key;
  const collection = client.collection('my-collection');
  const { outputs } = await collection.analyze({ data: PICTURE.toString('base64') });
  const thumbnail = PICTURE.toString('base64');
  await collection.add([{ id: 'red', title: 'a red wall', import: outputs, thumbnail }], { commit: true });
  for (const name of ['shoes', 'hats']) {
    await client.collection(name).create();
    await client.collection(name).add([{ id: name, title: name }], { commit: true });
  }
  limited = (await client.createKey({ scope: 'search', collections: ['shoes', 'hats'] })).key;
});
afterAll(async () => {
  await browser?.close();
  await akin?.command.stop();
  await database?.drop();
  await data?.remove();
});

it('the page asks for a key once, works with a key that allows only searches, and does not show it', async () => {
  const { page, context } = await openPage(browser, `${akin.url}/`);
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(request.url()));
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This server needs a key.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'akin', exact: true }).click();
  // No header can hold these characters.
  await dialog.getByLabel('Key', { exact: true }).fill('schlüssel–1');
  await dialog.getByRole('button', { name: 'Open' }).click();
  expect(await dialog.locator(':invalid').count()).toBeGreaterThan(0);
  await dialog.getByLabel('Key', { exact: true }).fill('wrong');
  await dialog.getByRole('button', { name: 'Open' }).click();
  await dialog.getByText('The server refuses the key that was entered.').waitFor();
  await dialog.getByLabel('Key', { exact: true }).fill(key);
  await dialog.getByRole('button', { name: 'Open' }).click();

  await page.getByText('1 found').waitFor();
  await dialog.waitFor({ state: 'detached' });
  const picture = page.locator('.card img');
  // The page's security policy forbids `eval`, which waiting inside the page would need.
  const isShown = 'document.querySelector(".card img")?.naturalWidth > 0';
  await until('the picture is there', async () => (await page.evaluate(isShown)) as boolean);
  expect(await picture.getAttribute('src')).toMatch(/^blob:/);

  // The key does not allow analysis, so the page sends the picture itself with the search.
  const searched = page.waitForResponse((response) => /\/image$|\/image\?/.test(response.url()));
  await page.locator('input[type=file]').setInputFiles({ name: 'wall.png', mimeType: 'image/png', buffer: PICTURE });
  expect((await searched).status()).toBe(200);
  await page.locator('.card .score').waitFor();
  expect(await page.locator('.card .score').textContent()).toMatch(/^1|100/);
  const copied = await copiedBy(page, page.getByRole('button', { name: 'Copy as curl' }));
  // The picture is too long for the URL, but has its place in the history.
  await page.goBack();
  await page.locator('.card .score').waitFor({ state: 'detached' });
  await page.goForward();
  await page.locator('.card .score').waitFor();
  expect(copied).toContain('-H "Authorization: Bearer $AKIN_KEY"');

  const secret = key.slice(18);
  expect(addresses.join('\n') + page.url() + copied + (await page.content())).not.toContain(secret);
  expect(await context.cookies()).toEqual([]);
  // It is also there after a reload.
  await page.reload();
  await page.getByText('1 similar, nearest first').waitFor();
  const another = await context.newPage();
  await another.goto(`${akin.url}/`);
  await another.getByText('This server needs a key.').waitFor();
  await context.close();
});

it('the page shows only the collections of a key, and does not request others', async () => {
  const { page, context, complaints } = await openPage(browser, `${akin.url}/`);
  await page.getByRole('dialog').getByLabel('Key', { exact: true }).fill(limited);
  await page.getByRole('dialog').getByRole('button', { name: 'Open' }).click();
  await page.getByText('1 found').waitFor();
  const choice = page.getByLabel('Collection');
  expect([await choice.inputValue(), await choice.locator('option').allTextContents()]).toEqual([
    'hats',
    ['hats', 'shoes'],
  ]);
  await choice.selectOption('shoes');
  await page.locator('.card').getByText('shoes').first().waitFor();
  expect(new URL(page.url()).searchParams.get('collection')).toBe('shoes');
  await page.reload();
  await page.locator('.card').getByText('shoes').first().waitFor();
  // Without a key the responses were 401.
  expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
  await context.close();
});

it('the page shows the original of a picture that the browser cannot read', async () => {
  const { page, context } = await openPage(browser, `${akin.url}/?collection=scans`);
  await page.getByRole('dialog').getByLabel('Key', { exact: true }).fill(adminKey);
  await page.getByRole('dialog').getByRole('button', { name: 'Open' }).click();
  // Until then, what is above the results may move them away from under a click.
  await settled(page);
  await page.locator('.card .picture').click();
  const original = page.getByRole('dialog').locator('img.full');
  await original.waitFor();
  expect(await original.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBe(600);
  await context.close();
});

it('the page keeps a key in the browser if asked to, makes keys for an admin, and forgets its own', async () => {
  const { page, context } = await openPage(browser, `${akin.url}/?view=manage`);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Key', { exact: true }).fill(adminKey);
  await dialog.getByLabel('Save it in this browser').check();
  await dialog.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  await page.close();
  const other = await context.newPage();
  await other.goto(`${akin.url}/?view=manage`);
  await other.getByLabel('Note').fill('for the shop');
  await other.getByLabel('Collection of the key').selectOption('shoes');
  await other.getByRole('button', { name: 'Create key' }).click();
  const made = await other.locator('.made code').textContent();
  const client = createClient({ baseUrl: akin.url, key: made ?? '' });
  expect((await client.collection('shoes').status()).scope).toBe('search');
  await other.getByRole('button', { name: 'Revoke for the shop' }).click();
  await other.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await other.getByText('for the shop', { exact: true }).waitFor({ state: 'detached' });
  await expect(client.collection('shoes').status()).rejects.toMatchObject({ status: 401 });
  await other.getByRole('button', { name: 'Forget it' }).click();
  await other.getByText('This server needs a key.').waitFor();
  expect(await other.evaluate("localStorage['akin-key'] ?? sessionStorage['akin-key']")).toBeUndefined();
  await context.close();
});
