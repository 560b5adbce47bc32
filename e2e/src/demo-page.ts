import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { type OwnAkin, serveOnPostgres, until } from './akin.ts';
import { newContext, openPageIn, startBrowser, type WatchedPage } from './browser.ts';

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
  /** The user, unless a test needs a new one. */
  context: BrowserContext | undefined;
  /** The page of the running test. */
  opened: WatchedPage | undefined;

  /** Opens a URL of akin. Errors and warnings of the page fail the test. */
  async open(address: string): Promise<WatchedPage> {
    this.context ??= await newContext(this.browser);
    this.opened = await openPageIn(this.context, `${this.akin.url}${address}`);
    return this.opened;
  }

  /** Ends the test of the open page, which leaves nothing for the next one. */
  async close(): Promise<void> {
    const { page, context, complaints } = this.opened ?? {};
    this.opened = undefined;
    await context?.setOffline(false);
    await page?.evaluate('localStorage.clear()');
    await page?.close();
    expect(complaints ?? []).toEqual([]);
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
  afterEach(() => demo.close());
  return demo;
}

/** Documents that the page asks for at first. */
export const PAGE_SIZE = 48;

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

/**
 * Lets no request for some URLs go on until the returned function is called.
 *
 * @param isAnswered whether akin answers before that, and only the response waits
 */
export async function holdRequests(
  page: Page,
  url: string | RegExp,
  isHeld: (url: string) => boolean = () => true,
  isAnswered = false,
): Promise<() => void> {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    if (!isHeld(route.request().url())) return route.continue();
    const response = isAnswered ? await route.fetch() : undefined;
    await held;
    await (response ? route.fulfill({ response }) : route.continue());
  });
  return release;
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
