import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type ServingAkin, serveAkin, temporaryFolder, until } from './akin.ts';
import { openPage, startBrowser } from './browser.ts';
import { copyOf, picture, UNLIKE } from './pictures.ts';

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let browser: Browser;
let akin: ServingAkin | undefined;

beforeAll(async () => {
  browser = await startBrowser();
  place = await temporaryFolder();
  const [one, two, three] = await Promise.all(UNLIKE.map((seed) => picture(seed)));
  if (!one || !two || !three) throw new Error('three drawings');
  const files = { 'one.jpg': one, 'copy.jpg': await copyOf(one), 'copy again.jpg': await copyOf(one), 'two.jpg': two };
  await mkdir(path.join(place.folder, 'pictures'));
  for (const [name, bytes] of Object.entries({ ...files, 'three.jpg': three })) {
    await writeFile(path.join(place.folder, 'pictures', name), bytes);
  }
});
afterAll(async () => {
  await browser?.close();
  await akin?.command.stop();
  await place?.remove();
});

/** Serves the folder, and waits until it is indexed. @returns what the command says about it, and the ids */
async function serveFolder(...args: string[]): Promise<{ said: string; ids: string[] }> {
  akin = await serveAkin([path.join(place.folder, 'pictures'), '--data', path.join(place.folder, 'data'), ...args]);
  await akin.command.waitForOutput(/\d+ indexed.*Three requests/s);
  const ids: string[] = [];
  for await (const { id } of akin.client.collection('my-collection').all()) ids.push(id);
  return { said: akin.command.out, ids: ids.sort() };
}

/** Reviews the groups as people do, and deletes all but the first of the only one. */
async function deleteDuplicates(url: string): Promise<void> {
  const { page, context, complaints } = await openPage(browser, `${url}/`);
  await page.getByRole('link', { name: 'Duplicates' }).click();
  await page.getByText('3 similar').waitFor();
  await page.getByLabel('Keep…').first().selectOption('first');
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('2 documents deleted.').waitFor();
  await page.goto(`${url}/?view=changes`);
  await page.getByRole('region', { name: 'This server' }).getByText('Free on disk').waitFor();
  await context.close();
  expect(complaints).toEqual([]);
}

it('what is deleted in the page stays away after akin was killed, until it is restored', async () => {
  const { ids: all } = await serveFolder('--restore-deleted');
  expect(all).toHaveLength(5);
  const first = akin as ServingAkin;
  await until('the groups are known', async () => {
    const { groups } = await first.client.collection('my-collection').groups();
    return groups[0]?.size === 3;
  });
  await deleteDuplicates(first.url);
  await first.command.stop('SIGKILL');

  const { said, ids: left } = await serveFolder();
  expect(said).toContain('0 indexed, 3 unchanged, 0 removed');
  expect(said).toContain('2 skipped, because their documents were deleted. --restore-deleted brings them back.');
  expect(left).toHaveLength(3);
  expect(left.filter((id) => /one|copy/.test(id))).toHaveLength(1);
  await akin?.command.stop();

  const { said: restored, ids: back } = await serveFolder('--restore-deleted');
  expect(restored).toContain('2 indexed, 3 unchanged');
  expect(back).toEqual(all);
  await akin?.command.stop();
});
