import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { type OwnAkin, serveOnPostgres, until } from './akin.ts';
import { openPage, startBrowser, type WatchedPage } from './browser.ts';

export const DEMO = fileURLToPath(new URL('../../apps/akin/demo/', import.meta.url));
/** A product of the demo of which there are edited copies, and its picture. */
export const PRODUCT = {
  id: 'demo-006',
  title: 'Kestara Brio studio headphones, mint',
  file: path.join(DEMO, 'demo-006.webp'),
};

/** An akin with the demo for the tests of one file, and a browser. */
export class DemoPage {
  akin!: OwnAkin;
  browser!: Browser;
  /** The page of the running test. */
  opened: WatchedPage | undefined;

  /** Opens a URL of akin. Errors and warnings of the page fail the test. */
  async open(address: string): Promise<WatchedPage> {
    this.opened = await openPage(this.browser, `${this.akin.url}${address}`);
    return this.opened;
  }

  /** Opens an address whose search has a result, and waits for it. */
  async visit(address = '/'): Promise<Page> {
    const { page } = await this.open(address);
    await settled(page);
    return page;
  }
}

/** Starts both before the tests of a file, and stops them after. */
export function useDemoPage(): DemoPage {
  const demo = new DemoPage();
  beforeAll(async () => {
    demo.browser = await startBrowser();
    demo.akin = await serveOnPostgres([], { demo: true });
  });
  afterAll(async () => {
    await demo.browser?.close();
    await demo.akin?.end();
  });
  afterEach(async () => {
    await demo.opened?.context.close();
    expect(demo.opened?.complaints).toEqual([]);
  });
  return demo;
}

export const cards = (page: Page) => page.locator('.card');
export const names = (page: Page) => page.locator('.card .name').allInnerTexts();
export const address = (page: Page) => new URL(page.url()).searchParams;

/** Waits until a search has been answered and its results are shown. */
export async function settled(page: Page): Promise<void> {
  await page.locator('#results[aria-busy="false"]').waitFor();
  await page
    .getByText(/^[\d,.]+ found|, nearest first$/)
    .first()
    .waitFor();
  await page.waitForLoadState('networkidle');
}

/** Asks for documents. The counts of filters come after them, from the same endpoints. */
export const ASKS_FOR_DOCUMENTS = /\/(select|image|color|duplicate)\?(.*&)?rows=[1-9]/;

/** Acts, and waits until the search that this begins has been answered. */
export async function search(page: Page, act: () => Promise<unknown>): Promise<void> {
  // Responses to earlier searches may still arrive.
  const asked = page.waitForRequest((request) => ASKS_FOR_DOCUMENTS.test(request.url()));
  await act();
  await (await asked).response();
  await settled(page);
}

export const card = (page: Page, title: string) => cards(page).filter({ has: page.getByText(title, { exact: true }) });

// Code that runs in the page is a text if it uses names that only browsers have.

/** Presses a button that copies a text, and returns the text. */
export async function copiedBy(page: Page, button: Locator): Promise<string> {
  const before = 'nothing was copied';
  await page.evaluate(`navigator.clipboard.writeText('${before}')`);
  await button.click();
  let text = before;
  await until('something is copied', async () => {
    text = await page.evaluate<string>('navigator.clipboard.readText()');
    return text !== before;
  });
  return text;
}

/** Waits until the browser has reported errors, and forgets them. @returns the errors */
export async function complaintsOf({ complaints }: WatchedPage): Promise<string[]> {
  await until('the browser reports an error', async () => complaints.length > 0);
  return complaints.splice(0);
}

/** Waits until a picture has pixels: it may be loaded after the page that shows it. */
export const pictureLoads = (picture: Locator): Promise<void> =>
  until('a picture is loaded', async () => {
    const width = await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth);
    return width > 0;
  });
