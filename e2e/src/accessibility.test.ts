import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { type OwnAkin, serveOnPostgres, until } from './akin.ts';
import { openPage, startBrowser } from './browser.ts';
import { settled } from './demo-page.ts';
import { saveScreenshot } from './shot.ts';

let akin: OwnAkin;
let browser: Browser;

beforeAll(async () => {
  browser = await startBrowser();
  akin = await serveOnPostgres([], { demo: true });
  const collection = akin.client.collection('my-collection');
  await collection.add([{ id: 'failed', image: 'http://127.0.0.1:1/nobody.jpg' }], { commit: true }).catch(() => {});
  await akin.client.collection('empty').create();
  await until('the groups are right up to the last commit', async () => {
    const { commit, asOfCommit } = await collection.groups({ rows: 0 });
    return asOfCommit === commit;
  });
});
afterAll(async () => {
  await browser?.close();
  await akin?.end();
});

type Act = (page: Page) => Promise<unknown>;

/**
 * Each view: its address, the steps that open it, and further steps on a narrow screen. Views that are not about
 * documents show few of them, because axe takes long for each.
 */
const VIEWS: Readonly<Record<string, readonly [address: string, act: Act, narrow?: Act]>> = {
  'the collection': ['/', (page) => page.getByText(/ found/).waitFor()],
  'similar pictures, narrowed': [
    '/?like=demo-006&fq=labels%3A%22mint%22',
    async (page) => {
      await page.locator('.facets').first().waitFor({ state: 'attached' });
      await page.getByLabel('Predicted labels').waitFor();
    },
    // The filters are behind a button there.
    (page) => page.locator('.narrow-toggle').click(),
  ],
  'a colour': ['/?hex=%23d02030&mode=color&q=headphones', (page) => page.getByText(/ found/).waitFor()],
  'the details': ['/?id=demo-006&q=headphones', (page) => page.getByRole('dialog').getByRole('heading').waitFor()],
  'an uploaded picture that is being analyzed': [
    '/?q=headphones',
    async (page) => {
      await page.route('**/analyze*', () => {});
      const buffer = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#c03020' } })
        .png()
        .toBuffer();
      await page.locator('input[type=file]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer });
      await page.getByText('Looking at your picture…').waitFor();
    },
  ],
  'a query that is wrong': ['/?q=price%3A%5B', (page) => page.getByRole('alert').waitFor()],
  'nothing found': ['/?q=nobodyhasthisword', (page) => page.getByText('Nothing matches.').waitFor()],
  'an empty collection': [
    '/?collection=empty',
    (page) => page.getByRole('heading', { name: 'This collection is empty' }).waitFor(),
  ],
  'the groups': [
    '/?view=groups',
    async (page) => {
      await page.getByLabel('Keep…').first().selectOption('first');
      await page.getByText(/ chosen$/).waitFor();
    },
  ],
  'a comparison': [
    '/?view=groups&q=headphones',
    async (page) => {
      await page.getByRole('button', { name: 'Compare' }).first().click();
      await page.getByRole('dialog').getByRole('heading').waitFor();
    },
  ],
  'a selection': [
    '/?q=headphones',
    async (page) => {
      // The filters, which come after the pictures, move them.
      await settled(page);
      await page.locator('.card').getByRole('checkbox').first().click();
      await page.getByText('1 selected').waitFor();
    },
  ],
  'the question before a delete': [
    '/?view=groups&q=headphones',
    async (page) => {
      await page.getByRole('checkbox').first().check();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('dialog').waitFor();
    },
  ],
  'the changes': ['/?view=changes', (page) => page.getByText('The picture could not be fetched').waitFor()],
  'the keys': [
    '/?q=headphones',
    async (page) => {
      await page.getByText(/ found/).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog').getByRole('heading', { name: 'Keyboard' }).waitFor();
    },
  ],
  'the question before a collection is deleted': [
    '/?view=manage',
    async (page) => {
      await page.getByRole('button', { name: 'Delete empty' }).click();
      await page.getByRole('dialog').waitFor();
    },
  ],
  'collections and keys': ['/?view=manage', (page) => page.getByRole('heading', { name: 'Keys' }).waitFor()],
  'the description of the interface': ['/docs', (page) => page.getByRole('heading').first().waitFor()],
  'a response as a page': [
    '/api/cores/my-collection/image?rank.by.id=demo-006&wt=html',
    (page) => page.locator('img').first().waitFor(),
  ],
};

const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 390, height: 900 };

/** Rules about colours. The results of the others do not depend on light or dark. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** What axe finds in the page as it is now: rule, number of elements, the first element. */
async function findings(page: Page, rules?: readonly string[]): Promise<unknown[]> {
  const options = { resultTypes: ['violations'], ...(rules ? { runOnly: rules } : {}) };
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    `axe.run(${JSON.stringify(options)})`,
  );
  return violations.map(({ id, nodes }) => [id, nodes.length, nodes[0]?.html]);
}

const tooWide = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

describe('in light and dark colours, on a wide and a narrow screen, axe finds nothing, and nothing is wider than the screen, in', () => {
  it.each(Object.keys(VIEWS))('%s', async (name) => {
    const [address, act, narrow] = VIEWS[name] ?? ['/', async () => {}];
    const { page, context } = await openPage(browser, `${akin.url}${address}`, {
      viewport: WIDE,
      colorScheme: 'light',
    });
    await act(page);
    await page.evaluate(axe.source);
    for (const viewport of [WIDE, NARROW]) {
      const { width } = viewport;
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme: 'light' });
      if (viewport === NARROW) await narrow?.(page);
      await saveScreenshot(page, `${name} light ${width}`);
      expect({ width, found: await findings(page) }).toEqual({ width, found: [] });
      expect(await tooWide(page)).toBeLessThanOrEqual(0);
      await page.emulateMedia({ colorScheme: 'dark' });
      await saveScreenshot(page, `${name} dark ${width}`);
      // The same elements have the same colours on a narrow screen.
      if (viewport === WIDE || narrow) {
        expect({ width, inDark: await findings(page, COLOR_RULES) }).toEqual({ width, inDark: [] });
      }
      // Between the two the layout is that of a wide screen, with less room.
      if (viewport === WIDE) await page.setViewportSize({ width: 1280, height: 900 });
      expect(await tooWide(page)).toBeLessThanOrEqual(0);
    }
    await context.close();
  });
});

it('axe finds nothing in the question for a key and in the note after a delete', async () => {
  const { page, context } = await openPage(browser, `${akin.url}/?view=groups`);
  await page.getByRole('checkbox').first().check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('1 document deleted.').waitFor();
  await page.evaluate(axe.source);
  expect(await findings(page)).toEqual([]);
  await page.route('**/select*', (route) =>
    route.fulfill({ status: 401, body: '{"error":{"code":401,"msg":"A key."}}' }),
  );
  await page.goto(`${akin.url}/?q=x`);
  await page.getByText('needs a key.').first().waitFor();
  await page.evaluate(axe.source);
  expect(await findings(page)).toEqual([]);
  await context.close();
});
