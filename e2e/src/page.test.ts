import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { type ServingAkin, serveAkin, temporaryFolder, until } from './akin.ts';
import { openPage, startBrowser, type WatchedPage } from './browser.ts';
import { pasteJson } from './shell.ts';

/** A product of the demo of which there are edited copies, and its picture as the demo drew it. */
const PRODUCT = { id: 'demo-006', title: 'Kestara Brio studio headphones, mint', file: 'demo/demo-006.jpg' };
const PAGE_SIZE = 48;

let data: Awaited<ReturnType<typeof temporaryFolder>>;
let akin: ServingAkin;
let browser: Browser;
let open: WatchedPage;
let demoSize: number;

beforeAll(async () => {
  browser = await startBrowser();
  data = await temporaryFolder();
  akin = await serveAkin(['--data', data.folder]);
  await akin.command.says(/Three requests/);
  demoSize = (await akin.client.collection('my-collection').status()).documents;
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await akin?.command.stop();
  await data?.remove();
});
afterEach(async () => {
  await open?.context.close();
  expect(open?.complaints).toEqual([]);
});

async function visit(address = '/'): Promise<Page> {
  open = await openPage(browser, `${akin.url}${address}`);
  await settled(open.page);
  return open.page;
}

const cards = (page: Page) => page.locator('.card');
const names = (page: Page) => page.locator('.card .name').allInnerTexts();
const address = (page: Page) => new URL(page.url()).searchParams;

/** Waits until a search has been answered and its pictures are there. */
async function settled(page: Page): Promise<void> {
  await page.getByText(/^[\d,.]+ found$/).waitFor();
  await page.waitForLoadState('networkidle');
}

async function search(page: Page, act: () => Promise<unknown>): Promise<void> {
  const answered = page.waitForResponse((answer) => /\/(select|image|color|duplicate)\?/.test(answer.url()));
  await act();
  await answered;
  await settled(page);
}

const card = (page: Page, title: string) => cards(page).filter({ has: page.getByText(title, { exact: true }) });

describe('the page', () => {
  it('shows the collection with pictures that are there, and more when asked', async () => {
    const page = await visit();
    await page.getByText(`${demoSize} found`).waitFor();
    await page.getByText(`${demoSize} documents`).waitFor();
    expect(await cards(page).count()).toBe(PAGE_SIZE);
    const picture = cards(page).first().locator('img');
    expect(await widthOf(picture)).toBeGreaterThan(0);
    await search(page, () => page.getByRole('button', { name: 'More', exact: true }).click());
    expect(
      new Set(await page.locator('.card img').evaluateAll((all) => all.map((one) => one.getAttribute('src')))).size,
    ).toBe(2 * PAGE_SIZE);
  });

  it('finds words, then what looks like a hit by content, by colour and as duplicate', async () => {
    const page = await visit();
    await page.getByRole('searchbox').fill('studio headphones mint');
    await search(page, () => page.getByRole('searchbox').press('Enter'));
    expect(address(page).get('q')).toBe('studio headphones mint');
    await search(page, () => card(page, PRODUCT.title).getByRole('button', { name: 'Duplicates' }).click());
    expect(address(page).get('mode')).toBe('duplicate');
    const copies = await names(page);
    expect(copies[0]).toBe(PRODUCT.title);
    expect(copies).toContain(`${PRODUCT.title} (mirrored)`);
    expect(copies.length).toBeLessThan(20);
    expect(await cards(page).first().locator('.score').textContent()).toBe('1');

    const modes = page.getByRole('group', { name: 'Compare by' });
    await search(page, () => modes.getByRole('button', { name: 'Content' }).click());
    await page.getByText(`Like ${PRODUCT.title}`).waitFor();
    expect((await names(page)).slice(0, 5).every((name) => name.includes('headphones'))).toBe(true);
    await search(page, () => cards(page).nth(1).getByRole('button', { name: 'Colour' }).click());
    expect([address(page).get('mode'), address(page).get('id')]).toEqual(['color', expect.stringMatching(/^demo-/)]);
  });

  it('goes back, and shows the same for the same address', async () => {
    const page = await visit(`/?id=${PRODUCT.id}`);
    const first = await names(page);
    await search(page, () => page.getByRole('button', { name: 'Duplicates' }).first().click());
    expect(await names(page)).not.toEqual(first);
    await search(page, () => page.goBack());
    expect(await names(page)).toEqual(first);
    await page.reload();
    await settled(page);
    expect(await names(page)).toEqual(first);
  });

  it('searches by a picture that is picked, and the address alone gives the same to others', async () => {
    const page = await visit();
    await search(page, () => page.locator('input[type=file]').setInputFiles(path.join(data.folder, PRODUCT.file)));
    await page.getByText('Like the uploaded picture').waitFor();
    const found = await names(page);
    expect(found[0]).toBe(PRODUCT.title);
    const shared = await openPage(browser, page.url());
    await settled(shared.page);
    expect(await names(shared.page)).toEqual(found);
    expect(shared.complaints).toEqual([]);
    await shared.context.close();
  });

  it('searches by a picture that is dropped, and says what is wrong with a file that is none', async () => {
    const page = await visit();
    await search(page, () => drop(page, path.join(data.folder, PRODUCT.file), 'image/jpeg'));
    expect((await names(page))[0]).toBe(PRODUCT.title);
    await drop(page, path.join(data.folder, 'demo/documents.json'), 'text/plain');
    expect(await page.getByRole('alert').textContent()).toContain('not an image');
    // The browser tells of every answer that is an error; this one was asked for.
    expect(open.complaints.splice(0)).toEqual([expect.stringContaining('415')]);
  });

  it('searches by colour', async () => {
    const page = await visit();
    await search(page, () => page.getByLabel('Search by colour').fill('#d02030'));
    expect(address(page).get('hex')).toBe('#d02030');
    expect((await names(page))[0]).toMatch(/red/);
  });

  it('tells all about a document, and filters by what it says', async () => {
    const page = await visit(`/?id=${PRODUCT.id}`);
    await cards(page).first().locator('.picture').click();
    const details = page.getByRole('dialog');
    expect(await details.locator('dl').textContent()).toMatch(/brand\s*Kestara.*price\s*43\.9/s);
    await search(page, () => details.getByRole('button', { name: 'studio headphones' }).click());
    expect(address(page).getAll('fq')).toEqual(['labels:"studio headphones"']);
    const filtered = await cards(page).count();
    expect(filtered).toBeLessThan(PAGE_SIZE);
    await search(page, () => page.getByTitle('Remove this filter').click());
    expect(await cards(page).count()).toBe(PAGE_SIZE);
    await cards(page).first().locator('.picture').click();
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'detached' });
  });

  it('gives every search as a command for the shell', async () => {
    const question = `/?id=${PRODUCT.id}&mode=duplicate&q=${encodeURIComponent("price:[1 TO *] OR it's")}&fq=labels:mint`;
    const page = await visit(question);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    const answer = await pasteJson(await clipboard(page));
    const titles = answer.response.docs.map(({ title }: { title: string }) => title);
    expect(titles).toEqual(await names(page));
    expect(titles.length).toBeGreaterThan(1);
    await page.getByRole('button', { name: 'Copy link' }).click();
    expect(await clipboard(page)).toBe(page.url());
  });

  it('predicts labels of what is searched for, which filter', async () => {
    const page = await visit(`/?id=${PRODUCT.id}`);
    const tag = page.getByLabel('Predicted labels').getByRole('button', { name: /^studio headphones/ });
    expect(await tag.textContent()).toMatch(/\d+ %/);
    await search(page, () => tag.click());
    expect(address(page).getAll('fq')).toEqual(['labels:"studio headphones"']);
    expect(await tag.isDisabled()).toBe(true);
  });

  it('shows a message of akin when the query is wrong', async () => {
    open = await openPage(browser, `${akin.url}/?q=price%3A%5B`);
    expect(await open.page.getByRole('alert').textContent()).toMatch(/character \d/);
    expect(open.complaints.splice(0)).toEqual([expect.stringContaining('400')]);
  });
});

describe('the groups to review', () => {
  const groups = (page: Page) => page.locator('.group');
  const counted = (page: Page) => page.getByText(/^[\d,.]+ groups?$/);

  /** Waits until the groups stand for the last commit, and shows them. */
  async function review(query = ''): Promise<Page> {
    const collection = akin.client.collection(new URLSearchParams(query).get('collection') ?? 'my-collection');
    await until('the groups are right up to the last commit', async () => {
      const { commit, asOfCommit } = await collection.groups({ rows: 0 });
      return asOfCommit === commit;
    });
    open = await openPage(browser, `${akin.url}/?view=groups${query && `&${query}`}`);
    await counted(open.page).waitFor();
    await open.page.waitForLoadState('networkidle');
    return open.page;
  }

  it('show edited copies together, with their scores, and lead to a search for more', async () => {
    const page = await review();
    expect(await groups(page).count()).toBe(20);
    const group = groups(page).filter({ hasText: `${PRODUCT.title} (mirrored)` });
    expect(await group.locator('.name').first().textContent()).toBe(PRODUCT.title);
    expect(await group.locator('.score').first().textContent()).toBe('first');
    expect(Number(await group.locator('.score').nth(1).textContent())).toBeGreaterThan(0.7);
    expect(await widthOf(group.locator('img').first())).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    expect((await pasteJson(await clipboard(page))).groups).toHaveLength(20);
    await search(page, () => group.getByRole('button', { name: 'Search' }).click());
    expect([address(page).get('mode'), address(page).get('id'), address(page).get('view')]).toEqual([
      'duplicate',
      PRODUCT.id,
      null,
    ]);
    await page.goBack();
    await counted(page).waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await groups(page).nth(20).waitFor();
  });

  it('are narrowed by words', async () => {
    const page = await review('q=headphones');
    const all = await page.locator('.group .name').allInnerTexts();
    expect(all.length).toBeGreaterThan(1);
    expect(all.every((name) => name.includes('headphones'))).toBe(true);
  });

  it('say so when there are none', async () => {
    await akin.client.collection('unlike').create();
    const page = await review('collection=unlike');
    await page.getByText('No near-duplicates here').waitFor();
  });

  it('let go of what is chosen, after a question', async () => {
    const collection = akin.client.collection('copies');
    await collection.create();
    const picture = await readFile(path.join(data.folder, PRODUCT.file));
    const { outputs } = await akin.client.collection('my-collection').analyze({ data: picture.toString('base64') });
    const small = await sharp(picture).resize(200).webp().toBuffer();
    const thumbnail = small.toString('base64');
    const long = 'a very long name of one document that is hardly to be shown on one line of a card'.repeat(3);
    await collection.add(
      ['one', 'two', 'three'].map((id) => ({ id, import: outputs, thumbnail, title: `${id} ${long}` })),
      { commit: true },
    );
    const page = await review('collection=copies');
    await page.getByText('3 alike').waitFor();
    await page.getByRole('button', { name: 'All but the first' }).click();
    await page.getByText('2 chosen').waitFor();
    await page.getByRole('checkbox').nth(2).uncheck();
    await page.getByRole('button', { name: 'Delete…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete documents' });
    await dialog.getByText('Delete 1 document from the collection?').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await collection.status()).documents).toBe(3);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('2 alike').waitFor();
    expect((await collection.status()).documents).toBe(2);
    expect(await page.getByText('chosen').count()).toBe(0);
  });
});

describe('several collections', () => {
  it('are there to choose from, each with its own documents and filters', async () => {
    const collection = akin.client.collection('notes');
    await collection.create();
    await collection.add([{ id: 'note', title: 'a note without a picture', mood: 'glad' }], { commit: true });
    const page = await visit('/?q=headphones');
    const choice = page.getByRole('combobox', { name: 'Collection' });
    expect(await choice.inputValue()).toBe('my-collection');
    await search(page, () => choice.selectOption('notes'));
    await page.getByText('1 found').waitFor();
    await page.getByRole('link', { name: '1 document', exact: true }).waitFor();
    expect([address(page).get('collection'), address(page).get('q')]).toEqual(['notes', null]);
    // There is nothing to compare it with.
    expect(await cards(page).getByRole('button').allInnerTexts()).toEqual(['no picture']);
    await search(page, () => page.goBack());
    expect(await choice.inputValue()).toBe('my-collection');
    expect(address(page).get('q')).toBe('headphones');
    expect(await cards(page).count()).toBeGreaterThan(1);
  });
});

describe('the changes', () => {
  it('show what failed and why, as it happens, and are tried again', async () => {
    const collection = akin.client.collection('changing');
    await collection.create();
    let there = false;
    const picture = await readFile(path.join(data.folder, PRODUCT.file));
    const pictures = createServer((_, response) => {
      if (there) response.setHeader('content-type', 'image/jpeg').end(picture);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => pictures.listen(0, '127.0.0.1', resolve));
    const { port } = pictures.address() as AddressInfo;
    open = await openPage(browser, `${akin.url}/?collection=changing&view=changes`);
    const { page } = open;
    await page.getByText('All changes are visible').waitFor();

    const documents = ['one', 'two', 'three'].map((id) => ({ id, image: `http://127.0.0.1:${port}/${id}.jpg` }));
    await collection.add([...documents, { id: 'plain' }], { async: true });
    await page.getByText('The picture could not be fetched: 3').waitFor();
    expect(await page.locator('.operations li').allInnerTexts()).toContainEqual(expect.stringMatching(/^one\s.*404/s));
    there = true;
    await page.getByRole('button', { name: 'Try two again' }).click();
    await page.getByText('The picture could not be fetched: 2').waitFor();
    await page.getByRole('button', { name: 'Try all again' }).click();
    await collection.commit({ waitAnalysis: true });
    await page.getByText('All changes are visible').waitFor();
    expect(await page.locator('.counts').textContent()).toMatch(/Visible\s*4\s*On their way\s*0\s*Failed\s*0/);
    await page.goto(`${akin.url}/?collection=changing`);
    await page.getByText('4 documents').click();
    await page.getByText('All changes are visible').waitFor();
    expect(address(page).get('view')).toBe('changes');
    pictures.close();
  });
});

describe('hostile documents', () => {
  const HOSTILE = `"><img src=x onerror="alert(1)"><script>alert(2)</script>{{7*7}}\${7*7}<svg onload=alert(3)>`;
  const ID = `x' onmouseover='alert(4)' <b>"`;
  beforeAll(async () => {
    const collection = akin.client.collection('hostile');
    await collection.create();
    await collection.add(
      [
        {
          id: ID,
          title: HOSTILE,
          labels: [HOSTILE, 'javascript:alert(5)'],
          [`field ${HOSTILE}`.slice(0, 100)]: HOSTILE,
        },
        { id: 'bare', note: 'javascript:alert(6)' },
      ],
      { commit: true },
    );
  });

  it('run no script on the page', async () => {
    const page = await visit('/?collection=hostile');
    expect(await names(page)).toContain(HOSTILE);
    await cards(page).filter({ hasText: HOSTILE }).locator('.picture').click();
    const details = page.getByRole('dialog');
    expect(await details.getByRole('heading').textContent()).toBe(HOSTILE);
    await search(page, () => details.getByRole('button', { name: 'javascript:alert(5)' }).click());
    expect(await cards(page).count()).toBe(1);
  });

  it('run no script in the HTML answers, which show pictures, palettes and scores', async () => {
    open = await openPage(browser, `${akin.url}/api/cores/hostile/select?wt=html`);
    expect(await open.page.locator('body').textContent()).toContain(HOSTILE);
    // These documents have no picture, which the writer of the answer cannot know.
    await open.page.waitForLoadState('networkidle');
    expect(open.complaints.splice(0).filter((text) => !text.includes('404'))).toEqual([]);
    await open.page.goto(`${akin.url}/api/cores/my-collection/image?rank.by.id=${PRODUCT.id}&wt=html`);
    const picture = open.page.locator('img').first();
    await picture.scrollIntoViewIfNeeded();
    expect(await widthOf(picture)).toBeGreaterThan(0);
    expect(await open.page.locator('svg rect').count()).toBeGreaterThan(0);
    await open.page.goto(`${akin.url}/docs`);
    expect(await open.page.locator('body').textContent()).toContain('/openapi.json');
  });
});

// What runs in the page is written as text where it needs names that only a browser has.

const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');

/** Pixels of a picture that was loaded; 0 for one that was not. */
const widthOf = (picture: Locator) =>
  picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth);

/** Drops a file on the page as a file manager does. */
async function drop(page: Page, file: string, type: string): Promise<void> {
  const content = (await readFile(file)).toString('base64');
  const transfer = await page.evaluateHandle(`(() => {
    const bytes = Uint8Array.from(atob('${content}'), (character) => character.charCodeAt(0));
    const dropped = new DataTransfer();
    dropped.items.add(new File([bytes], 'dropped', { type: '${type}' }));
    return dropped;
  })()`);
  await page.dispatchEvent('body', 'dragover', { dataTransfer: transfer });
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
}
