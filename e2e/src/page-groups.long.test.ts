import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { until } from './akin.ts';
import { address, copiedBy, DEMO, PRODUCT, pictureLoads, search, useDemoPage } from './demo-page.ts';
import { pasteJson } from './shell.ts';
import { saveScreenshot } from './shot.ts';

const demo = useDemoPage();

describe('the groups to review', () => {
  const groups = (page: Page) => page.locator('.group');
  const counted = (page: Page) => page.getByText(/^[\d,.]+ groups?$/);

  /** Waits until the groups include the last commit, and shows them. */
  async function review(query = ''): Promise<Page> {
    const collection = demo.akin.client.collection(new URLSearchParams(query).get('collection') ?? 'my-collection');
    await until('the groups are right up to the last commit', async () => {
      const { commit, asOfCommit } = await collection.groups({ rows: 0 });
      return asOfCommit === commit;
    });
    const { page } = await demo.open(`/?view=groups${query && `&${query}`}`);
    await counted(page).waitFor();
    await page.waitForLoadState('networkidle');
    return page;
  }

  it('show edited copies together, with their scores, and lead to a search for more', async () => {
    const page = await review();
    expect(await groups(page).count()).toBe(20);
    const group = groups(page).filter({ hasText: `${PRODUCT.title} (mirrored)` });
    expect(await group.locator('.name').first().textContent()).toBe(PRODUCT.title);
    expect(await group.locator('.score').first().textContent()).toBe('first');
    expect(Number(await group.locator('.score').nth(1).textContent())).toBeGreaterThan(0.7);
    await pictureLoads(group.locator('img').first());
    const command = await copiedBy(page, page.getByRole('button', { name: 'Copy as curl' }));
    expect((await pasteJson(command)).groups).toHaveLength(20);
    await search(page, () => group.getByRole('button', { name: 'Search' }).click());
    expect([address(page).get('mode'), address(page).get('like'), address(page).get('view')]).toEqual([
      'duplicate',
      PRODUCT.id,
      null,
    ]);
    await page.goBack();
    await counted(page).waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await groups(page).nth(20).waitFor();
    // The controls of all groups stay below the header.
    await groups(page).nth(20).scrollIntoViewIfNeeded();
    await until('the controls are in sight', async () => {
      const [header, bar] = await Promise.all([
        page.locator('header').boundingBox(),
        page.getByRole('group', { name: 'All groups' }).boundingBox(),
      ]);
      return header?.y === 0 && bar?.y === header.height;
    });
  });

  it('are narrowed by words', async () => {
    const page = await review('q=headphones');
    const all = await page.locator('.group .name').allInnerTexts();
    expect(all.length).toBeGreaterThan(1);
    expect(all.every((name) => name.includes('headphones'))).toBe(true);
  });

  it('are all shown, also after a search with filters', async () => {
    const page = await demo.visit('/?q=headphones&fq=labels%3Amint');
    await page.getByRole('link', { name: 'Duplicates' }).click();
    await counted(page).waitFor();
    expect([address(page).get('q'), address(page).getAll('fq')]).toEqual([null, []]);
    const { numFound } = await demo.akin.client.collection('my-collection').groups({ rows: 0 });
    await page.getByText(`${numFound} groups`).waitFor();
  });

  it('say so if there are none', async () => {
    await demo.akin.client.collection('unlike').create();
    const page = await review('collection=unlike');
    await page.getByText('No near-duplicates here').waitFor();
  });

  it('delete the chosen documents, after a question', async () => {
    const collection = demo.akin.client.collection('copies');
    await collection.create();
    const picture = await readFile(PRODUCT.file);
    const { outputs } = await demo.akin.client
      .collection('my-collection')
      .analyze({ data: picture.toString('base64') });
    const small = await sharp(picture).resize(200).webp().toBuffer();
    const thumbnail = small.toString('base64');
    const long = 'a very long name of one document that is hardly to be shown on one line of a card'.repeat(3);
    await collection.add(
      ['one', 'two', 'three'].map((id) => ({ id, import: outputs, thumbnail, title: `${id} ${long}` })),
      { commit: true },
    );
    const page = await review('collection=copies');
    await page.getByText('3 similar').waitFor();
    await page.getByLabel('Keep…').first().selectOption('first');
    await page.getByText('2 chosen').waitFor();
    await page.getByRole('checkbox').nth(2).uncheck();
    await page.getByRole('button', { name: 'Delete…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete pictures' });
    await dialog.getByText('Delete 1 picture from the collection?').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    // Until then, the browser would close the next question, too.
    await until('the browser has gone back', async () => (await page.evaluate('history.state?.asks')) === undefined);
    expect((await collection.status()).documents).toBe(3);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('2 similar').waitFor();
    expect((await collection.status()).documents).toBe(2);
    await page.getByText('chosen').first().waitFor({ state: 'detached' });

    await page.getByText('1 document deleted.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('3 similar').waitFor();
    await page.getByText('deleted').first().waitFor({ state: 'detached' });
    const { response } = await collection.duplicate({ 'rank.by.id': 'three', fl: 'id,title' });
    expect(response.docs.map(({ id }) => id).sort()).toEqual(['one', 'three', 'two']);
    await pictureLoads(page.locator('.group img').nth(1));
    expect((await collection.operations({ limit: 1000 })).operations.filter(({ attempt }) => attempt > 0)).toEqual([]);
  });

  it('restore documents from a folder, so that indexing recognizes them', async () => {
    const collection = demo.akin.client.collection('folder');
    await collection.create();
    const picture = await readFile(PRODUCT.file);
    const { outputs } = await demo.akin.client
      .collection('my-collection')
      .analyze({ data: picture.toString('base64') });
    const thumbnail = (await sharp(picture).resize(200).webp().toBuffer()).toString('base64');
    const file = { source: '/photos', modified: '2026-01-02T03:04:05Z', bytes: 10, labels: ['a'], price: 5.5 };
    const ids = Array.from({ length: 26 }, (_, i) => `it's "${i}", ${'ü'.repeat(i)}.jpg`);
    await collection.add(
      ids.map((id) => ({ id, import: outputs, thumbnail, ...file })),
      { commit: true },
    );
    const before = (await collection.exportPage()).lines.split('\n').slice(1).sort();
    const page = await review('collection=folder');
    await page.getByText('26 similar').waitFor();
    expect(await page.locator('.group .card').count()).toBe(20);
    await page.getByRole('button', { name: '6 more in this group' }).click();
    await page.locator('.group .card').nth(25).waitFor();
    await page.getByLabel('Keep…').first().selectOption('first');
    await page.getByText('25 chosen').waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete pictures' });
    await dialog.waitFor();
    await page.goBack();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('25 chosen').waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('25 documents deleted.').waitFor();
    const tombstones = async () => {
      const found: string[] = [];
      for await (const { id } of collection.allTombstones()) found.push(id);
      return found;
    };
    expect(await tombstones()).toHaveLength(25);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('26 similar').waitFor();
    expect((await collection.exportPage()).lines.split('\n').slice(1).sort()).toEqual(before);
    expect(await tombstones()).toEqual([]);
  });
});

describe('the review', () => {
  it('distinguishes copies, keeps the best, compares in one place, and remembers decisions', async () => {
    const collection = demo.akin.client.collection('reviewed');
    await collection.create();
    const picture = await readFile(PRODUCT.file);
    const small = await sharp(picture).resize(200).webp().toBuffer();
    const analyzed = async (bytes: Buffer) =>
      (await demo.akin.client.collection('my-collection').analyze({ data: bytes.toString('base64') })).outputs;
    const other = await readFile(path.join(DEMO, 'demo-001.webp'));
    const document = (id: string, outputs: string, width: number, modified: string) => ({
      id,
      import: outputs,
      thumbnail: small.toString('base64'),
      source: '/photos',
      folder: 'trip',
      width,
      height: width,
      bytes: width * 100,
      modified,
    });
    const [one, two] = [await analyzed(picture), await analyzed(other)];
    await collection.add(
      [
        document('a.jpg', one, 640, '2024-05-01T10:00:00Z'),
        document('b.png', one, 320, '2023-05-01T10:00:00Z'),
        document('c.jpg', one, 1280, '2025-05-01T10:00:00Z'),
        document('x.jpg', two, 640, '2024-05-01T10:00:00Z'),
        document('y.jpg', two, 640, '2023-05-01T10:00:00Z'),
      ],
      { commit: true },
    );
    await until('both groups are known', async () => (await collection.groups({ rows: 0 })).numFound === 2);
    const { page } = await demo.open('/?view=groups&collection=reviewed');
    await page.setViewportSize({ width: 1440, height: 900 });
    const first = page.locator('.group').filter({ hasText: 'c.jpg' });
    await first.getByText('1,280 × 1,280').waitFor();
    await first.getByText('32 kB · PNG').waitFor();
    const marked = () => page.locator('.card.chosen .name').allInnerTexts();
    await page.getByLabel('Keep in all groups…').selectOption('largest');
    await page.getByText('3 chosen').waitFor();
    expect(await marked()).toEqual(['a.jpg', 'b.png', 'y.jpg']);
    await first.getByLabel('Keep…').selectOption('format');
    await page.locator('.card.chosen .name', { hasText: 'c.jpg' }).waitFor();
    expect(await marked()).toEqual(['a.jpg', 'c.jpg', 'y.jpg']);
    await saveScreenshot(page, 'review');
    await page.setViewportSize({ width: 390, height: 844 });
    await saveScreenshot(page, 'review-phone');
    await page.setViewportSize({ width: 1440, height: 900 });

    // By the keyboard: the first is kept, the second is deleted, and the next group follows.
    await page.getByRole('button', { name: 'Keep all' }).click();
    await page.keyboard.press('n');
    await page.keyboard.press('k');
    await page.keyboard.press('d');
    expect(await marked()).toEqual(['b.png']);
    await page.keyboard.press('c');
    const compared = page.getByRole('dialog', { name: 'Compare' });
    await compared.getByRole('heading', { name: 'c.jpg' }).waitFor();
    await page.keyboard.press('ArrowRight');
    await compared.getByRole('heading', { name: 'a.jpg' }).waitFor();
    await saveScreenshot(page, 'review-compare');
    await page.keyboard.press('d');
    await page.keyboard.press('Escape');
    await compared.waitFor({ state: 'hidden' });
    expect(await marked()).toEqual(['a.jpg', 'b.png']);
    await page.getByRole('button', { name: 'Keep all' }).click();

    // What is not shown any more is not marked any more: it would be deleted unseen.
    await page.locator('.group').filter({ hasText: 'x.jpg' }).getByRole('checkbox').first().check();
    await page.getByText('1 chosen').waitFor();
    await page.locator('.group').filter({ hasText: 'x.jpg' }).getByRole('button', { name: 'Not duplicates' }).click();
    await page.getByText('1 chosen').waitFor({ state: 'detached' });
    // The offer stays while the mouse is over it.
    await page.getByText('2 pictures will not be shown together again.').hover();
    await page.getByText('1 group', { exact: true }).waitFor();
    await page.getByText('1 of 2 groups done').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.group').filter({ hasText: 'x.jpg' }).waitFor();
    expect(demo.opened?.complaints.splice(0).filter((text) => !text.includes('404'))).toEqual([]);
  });
});

describe('the changes', () => {
  it('are shown when akin answers again, after an error', async () => {
    const page = await demo.visit();
    await page.route(/\/operations\?|\/api\/cores$/, (route) => route.abort());
    await page.getByRole('link', { name: /documents/ }).click();
    const error = page.getByRole('alert').filter({ hasText: 'akin does not answer' });
    await error.waitFor();
    expect(await page.getByText('Looking…').count()).toBe(0);
    await page.unroute(/\/operations\?|\/api\/cores$/);
    await page.locator('.counts').waitFor();
    await error.waitFor({ state: 'detached' });

    await page.route(/\/api\/cores$/, (route) => route.abort());
    await page.getByRole('link', { name: 'Manage' }).click();
    await error.waitFor();
    expect(await page.getByText('Loading…').count()).toBe(0);
    await page.getByText('This page sends no key.').waitFor();
    expect(demo.opened?.complaints.splice(0).filter((text) => !text.includes('ERR_FAILED'))).toEqual([]);
  });

  it('show failures and their reasons live, and can be retried', async () => {
    const collection = demo.akin.client.collection('changing');
    await collection.create();
    let there = false;
    const picture = await readFile(PRODUCT.file);
    const pictures = createServer((_, response) => {
      if (there) response.setHeader('content-type', 'image/webp').end(picture);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => pictures.listen(0, '127.0.0.1', resolve));
    const { port } = pictures.address() as AddressInfo;
    const { page } = await demo.open('/?collection=changing&view=changes');
    await page.getByText('All changes are visible').waitFor();

    const documents = ['one', 'two', 'three'].map((id) => ({ id, image: `http://127.0.0.1:${port}/${id}.jpg` }));
    await collection.add([...documents, { id: 'plain' }], { async: true });
    await page.getByText('The picture could not be fetched: 3').waitFor();
    // The list comes after the counts.
    await page
      .locator('.operations li')
      .filter({ hasText: /one.*404/s })
      .waitFor();
    there = true;
    await page.getByRole('button', { name: 'Try again: two' }).click();
    await page.getByText('The picture could not be fetched: 2').waitFor();
    await page.getByRole('button', { name: 'Try all again' }).click();
    await collection.commit({ waitAnalysis: true });
    await page.getByText('All changes are visible').waitFor();
    expect(await page.locator('.counts').textContent()).toMatch(/Visible\s*4\s*In progress\s*0\s*Failed\s*0/);
    await page.goto(`${demo.akin.url}/?collection=changing`);
    await page.getByText('4 documents').click();
    await page.getByText('All changes are visible').waitFor();
    expect(address(page).get('view')).toBe('changes');
    pictures.close();
  });
});
