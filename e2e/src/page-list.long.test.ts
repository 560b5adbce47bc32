import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from './akin.ts';
import type { WatchedPage } from './browser.ts';
import {
  address,
  card,
  cards,
  complaintsOf,
  copiedBy,
  DEMO,
  names,
  PRODUCT,
  search,
  settled,
  useDemoPage,
} from './demo-page.ts';
import { pasteJson } from './shell.ts';
import { saveScreenshot } from './shot.ts';

const PAGE_SIZE = 48;

const demo = useDemoPage();

describe('the list on the page', () => {
  it('lists hundreds of documents, draws few of them, and moves through them by the arrow keys', async () => {
    const collection = demo.akin.client.collection('many');
    await collection.create();
    const documents = Array.from({ length: 700 }, (_, i) => ({ id: `n${i}`, title: `thing ${i}`, n: i }));
    await collection.add(documents, { commit: true });
    const page = await demo.visit('/?collection=many&sort=n+asc');
    const shown = () =>
      page.evaluate<string[]>(`[...document.querySelectorAll('.card')].filter((card) => {
        const { top, bottom } = card.getBoundingClientRect();
        return bottom > 0 && top < innerHeight;
      }).map((card) => card.dataset.id)`);
    for (const layout of ['Cards', 'Rows']) {
      await page.getByRole('button', { name: layout }).click();
      await until('the last one is in sight', async () => {
        await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
        return (await shown()).includes('n699');
      });
      expect(await cards(page).count()).toBeLessThan(300);
      expect(await page.getByRole('listitem').filter({ hasText: 'thing 699' }).getAttribute('aria-posinset')).toBe(
        '700',
      );
      await page.evaluate('scrollTo(0, 0)');
      await until('the first one is in sight', async () => (await shown()).includes('n0'));
    }
    await page.reload();
    await settled(page);
    expect(await page.getByRole('button', { name: 'Rows' }).getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate('document.activeElement.closest(".card")?.dataset.id');
    await page.getByRole('link', { name: 'Skip to the results' }).press('Enter');
    expect(await focused()).toBe('n0');
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('n0');
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
    expect(await focused()).toBe('n1');
    // One card of the grid takes the focus by Tab.
    expect(await page.locator('.card .picture[tabindex="0"]').count()).toBe(1);
    await page.keyboard.press('End');
    await until('another one has the focus', async () => (await focused()) !== 'n1');
  });

  it('ends a list that has grown before the documents that are shown', async () => {
    const collection = demo.akin.client.collection('growing');
    await collection.create();
    const documents = (from: number) => Array.from({ length: 150 }, (_, i) => ({ id: `n${from + i}`, n: from + i }));
    await collection.add(documents(0), { commit: true });
    const page = await demo.visit('/?collection=growing&sort=n+asc');
    const toTheEnd = () => page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await search(page, toTheEnd);
    expect(await cards(page).count()).toBe(3 * PAGE_SIZE);
    await collection.add(documents(-150), { commit: true });
    await search(page, toTheEnd);
    await page.locator('.found .more').waitFor({ state: 'detached' });
    expect(await cards(page).last().getAttribute('data-id')).toBe('n149');
  });

  it('says so when the picture of a link is gone, and shows the others', async () => {
    const page = await demo.visit('/?id=gone.jpg');
    await page.getByRole('alert').filter({ hasText: 'gone.jpg is not in this collection.' }).waitFor();
    expect(await cards(page).count()).toBeGreaterThan(0);
  });

  it('goes back, and shows the same for the same URL', async () => {
    const page = await demo.visit(`/?like=${PRODUCT.id}`);
    const first = await names(page);
    await search(page, () => page.getByRole('button', { name: 'Copies' }).first().click());
    expect(await names(page)).not.toEqual(first);
    // At once, without a request.
    await page.goBack();
    await until('the earlier results are shown', async () => (await names(page)).join() === first.join());
    await search(page, () => page.locator('.card').last().scrollIntoViewIfNeeded());
    const top = await page.evaluate('scrollY');
    const all = await names(page);
    expect(all.length).toBeGreaterThan(first.length);
    await page.reload();
    await until('all pages are shown in the same place', async () => (await page.evaluate('scrollY')) === top);
    expect(await names(page)).toEqual(all);
  });

  it('searches by a dropped picture, and says what is wrong with a file that is not a picture', async () => {
    const page = await demo.visit();
    await search(page, () => drop(page, PRODUCT.file, 'image/webp'));
    expect((await names(page))[0]).toBe(PRODUCT.title);
    await drop(page, path.join(DEMO, 'documents.json'), 'text/plain');
    expect(await page.getByRole('alert').textContent()).toContain('not an image');
    // The browser logs every response that is an error; this one is expected.
    expect(await complaintsOf(demo.opened as WatchedPage)).toEqual([expect.stringContaining('415')]);
  });

  it('keeps the results while akin is away, and loads new ones when it is back', async () => {
    const page = await demo.visit();
    const before = await names(page);
    const { context, complaints } = demo.opened as WatchedPage;
    await context.setOffline(true);
    await page.getByRole('searchbox').fill('headphones');
    await page.keyboard.press('Enter');
    await page.getByText('akin does not answer.').waitFor();
    // The page may know that before its search has failed.
    await until('the results are shown again', async () => (await names(page)).join() === before.join());
    await saveScreenshot(page, 'away');
    await context.setOffline(false);
    await page.getByText('akin does not answer.').waitFor({ state: 'detached' });
    await until('the search is answered', async () => (await names(page)).every((name) => /headphones/.test(name)));
    complaints.splice(0);
  });

  it('announces new documents, moves no picture for them, and keeps an error of the user', async () => {
    const collection = demo.akin.client.collection('announced');
    await collection.create();
    await collection.add([{ id: 'b', title: 'old' }], { commit: true });
    const page = await demo.visit('/?collection=announced&sort=id+asc');
    await drop(page, path.join(DEMO, 'documents.json'), 'text/plain');
    await page.getByRole('alert').waitFor();
    await collection.add([{ id: 'a', title: 'new' }], { commit: true });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await names(page)).toEqual(['old']);
    expect(await page.getByRole('alert').textContent()).toContain('not an image');
    await search(page, () => page.getByRole('button', { name: '1 new' }).click());
    expect(await names(page)).toEqual(['new', 'old']);
    // The button is gone: the keyboard goes on with the results.
    expect(await page.evaluate('document.activeElement.id')).toBe('results');
    await card(page, 'old').getByRole('checkbox').check();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Selected documents' }).waitFor({ state: 'detached' });
    await complaintsOf(demo.opened as WatchedPage);
  });

  it('narrows and sorts by a number whose name has a comma', async () => {
    const collection = demo.akin.client.collection('commas');
    await collection.create();
    await collection.add(
      [4, 2, 9].map((price) => ({ id: `p${price}`, 'Price, EUR': price })),
      { commit: true },
    );
    const page = await demo.visit('/?collection=commas');
    await search(page, () => page.getByLabel('Order').selectOption({ label: 'Price, EUR, lowest first' }));
    expect(await names(page)).toEqual(['p2', 'p4', 'p9']);
    await search(page, () => page.getByLabel('Price, EUR, maximum').press('PageDown'));
    expect(await names(page)).toEqual(['p2', 'p4']);
  });

  it('finds pictures that were taken nearby', async () => {
    const page = await demo.visit('/?fq=city:"Galway"');
    await cards(page).first().locator('.picture').click();
    await search(page, () => page.getByRole('dialog').getByRole('button', { name: 'Nearby' }).click());
    await page
      .getByTitle('Remove this filter')
      .getByText(/^Within 25 km of/)
      .waitFor();
    await search(page, () => page.getByLabel('Distance').selectOption('500'));
    expect(address(page).getAll('fq').at(-1)).toMatch(/ d=500\}$/);
  });

  it('refines a search by "more" and "less", and keeps that in the URL', async () => {
    const page = await demo.visit(`/?like=${PRODUCT.id}`);
    const open = () => cards(page).nth(3).locator('.picture').click();
    await open();
    await search(page, () => page.getByRole('dialog').getByRole('button', { name: 'Less like this' }).click());
    const [less] = address(page).getAll('less');
    const chip = page.getByTitle('Remove this picture from the search');
    await chip.getByText(`less like ${less}`).waitFor();
    await saveScreenshot(page, 'less-like');
    const found = await names(page);
    await page.reload();
    await settled(page);
    expect(await names(page)).toEqual(found);
    await search(page, () => chip.click());
    expect(address(page).getAll('less')).toEqual([]);
    expect(await names(page)).not.toEqual(found);
  });

  it('gives every search as a command for the shell', async () => {
    const question = `/?like=${PRODUCT.id}&mode=duplicate&q=${encodeURIComponent("price:[1 TO *] OR it's")}&fq=labels:mint`;
    const page = await demo.visit(question);
    const body = await pasteJson(await copiedBy(page, page.getByRole('button', { name: 'Copy as curl' })));
    const titles = body.response.docs.map(({ title }: { title: string }) => title);
    // The page shows the picture of the query above the results.
    expect(titles).toEqual([PRODUCT.title, ...(await names(page))]);
    expect(titles.length).toBeGreaterThan(1);
    expect(await copiedBy(page, page.getByRole('button', { name: 'Copy link' }))).toBe(page.url());
  });

  it('predicts labels of the searched picture, which filter the results', async () => {
    const page = await demo.visit(`/?like=${PRODUCT.id}`);
    const tag = page.getByLabel('Predicted labels').getByRole('button', { name: /^studio headphones/ });
    expect(await tag.textContent()).toMatch(/\d+\s?%/);
    await search(page, () => tag.click());
    expect(address(page).getAll('fq')).toEqual(['labels:"studio headphones"']);
    expect(await tag.isDisabled()).toBe(true);
  });
});

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
