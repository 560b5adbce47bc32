import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { temporaryFolder, until } from './akin.ts';
import type { WatchedPage } from './browser.ts';
import { complaintsOf, PRODUCT, settled, useDemoPage } from './demo-page.ts';
import { run } from './shell.ts';
import { saveScreenshot } from './shot.ts';

const demo = useDemoPage();
let home: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  home = await temporaryFolder();
  await copyFile(PRODUCT.file, path.join(home.folder, 'photo.jpg'));
  const { client } = demo.akin;
  const collection = client.collection('my-collection');
  await collection.add([{ id: 'failed', image: 'http://127.0.0.1:1/nobody.jpg' }], { commit: true }).catch(() => {});
  await client.collection('empty').create();
  await until('the groups are right up to the last commit', async () => {
    const { commit, asOfCommit } = await collection.groups({ rows: 0 });
    return asOfCommit === commit;
  });
});
afterAll(() => home?.remove());

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
  'a query that is wrong': [
    '/?q=price%3A%5B',
    (page) =>
      page
        .getByRole('alert')
        .getByText(/^The query cannot be read at character \d/)
        .waitFor(),
  ],
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
    const { page, complaints } = await demo.open('/health/live');
    await page.setViewportSize(WIDE);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${demo.akin.url}${address}`);
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
    // Some views are about errors, which the browser reports.
    complaints.splice(0);
  });
});

describe('the reference of the interface', () => {
  it('finds endpoints by words', async () => {
    const { page } = await demo.open('/docs');
    const sections = page.locator('main section');
    const all = await sections.count();
    await page.keyboard.press('/');
    await page.keyboard.type('near-duplicates decision');
    await page.locator('#color').waitFor({ state: 'hidden' });
    const left = await sections.filter({ visible: true }).count();
    expect([left > 0, left < all / 3]).toEqual([true, true]);
    expect(await page.locator('nav li').filter({ visible: true }).count()).toBe(left);
    await page
      .getByRole('link', { name: /groups\/decisions/ })
      .first()
      .click();
    expect(page.url()).toMatch(/#(groupDecisions|decideGroupsByPost)$/);
  });

  it('tries a search, an upload and a change', async () => {
    const { page } = await demo.open('/docs');
    const attempt = async (id: string) => {
      const section = page.locator(`section#${id}`);
      await section.getByText('Try it').click();
      return section;
    };
    const responseTo = async (section: Awaited<ReturnType<typeof attempt>>) => {
      await section.getByRole('button', { name: 'Send' }).click();
      await section
        .locator('output pre')
        .getByText(/"responseHeader"[\s\S]*\}\s*$/)
        .waitFor();
      return JSON.parse(await section.locator('output pre').innerText());
    };
    const image = await attempt('image');
    expect((await responseTo(image)).response.docs).toHaveLength(5);
    const duplicate = await attempt('duplicate');
    await duplicate.getByLabel('Picture').setInputFiles(PRODUCT.file);
    expect((await responseTo(duplicate)).response.docs[0].id).toBe(PRODUCT.id);
    expect((await responseTo(await attempt('update'))).responseHeader.status).toBe(0);
    const get = await attempt('get');
    await get.getByLabel(/Parameters/).fill('id=mine\nfl=title');
    expect((await responseTo(get)).doc).toEqual({ title: 'My own' });
    const thumbnail = await attempt('thumbnail');
    await thumbnail.getByRole('button', { name: 'Send' }).click();
    await thumbnail.getByAltText('The response').waitFor();
  });

  it('shows a refused request as akin answers it', async () => {
    const { page } = await demo.open('/docs');
    const section = page.locator('section#select');
    await section.getByText('Try it').click();
    await section.getByLabel(/Parameters/).fill('q=price:[');
    await section.getByRole('button', { name: 'Send' }).click();
    await section.getByText(/^400 application\/json/).waitFor();
    // The browser logs the status too.
    demo.opened?.complaints.splice(0);
  });

  it('has examples that work as written, in three languages', async () => {
    const { page } = await demo.open('/docs');
    for (const id of ['color', 'duplicate', 'update', 'tag', 'terms']) {
      const example = (language: string) => page.locator(`section#${id} code.${language}`).textContent();
      const [shell, python, typescript] = await Promise.all(['curl', 'Python', 'TypeScript'].map(example));
      const cwd = home.folder;
      expect(JSON.parse(await run('sh', ['-c', `${shell}`], { cwd })).responseHeader.status).toBe(0);
      expect(await run('python3', ['-c', `${python}`], { cwd })).toMatch(/^200 b'\{/);
      expect(await run(process.execPath, ['--input-type=module', '-e', `${typescript}`], { cwd })).toMatch(/^200 \{/);
    }
  });
});

it('the page is small, and shows no picture of another server', async () => {
  const elsewhere = 'http://127.0.0.1:1/picture.jpg';
  const collection = demo.akin.client.collection('elsewhere');
  await collection.create();
  const document = { id: 'a', title: 'of elsewhere', image: elsewhere };
  await collection.add([document], { commit: true, 'modules.apply': 'color' }).catch(() => {});
  const { page } = await demo.open(`/?collection=elsewhere&url=${encodeURIComponent(elsewhere)}`);
  await page.getByText('a picture of 127.0.0.1:1').waitFor();
  await page.getByRole('alert').waitFor();
  // Only responses of akin are expected: the browser reports any request of the page to another server.
  const complaints = await complaintsOf(demo.opened as WatchedPage);
  expect(complaints.filter((text) => !/ (422|400)/.test(text))).toEqual([]);
  const html = await (await fetch(`${demo.akin.url}/`)).text();
  const scripts = [...html.matchAll(/(?:src|modulepreload" crossorigin href)="([^"]+[.]js)"/g)].map(
    ([, src = '']) => new URL(src, demo.akin.url),
  );
  const bytes = await Promise.all(scripts.map(async (one) => Buffer.from(await (await fetch(one)).arrayBuffer())));
  expect(scripts).not.toEqual([]);
  expect(bytes.reduce((sum, one) => sum + gzipSync(one).length, 0)).toBeLessThan(60_000);
});

it('axe finds nothing in the question for a key and in the note after a delete', async () => {
  const { page, complaints } = await demo.open('/?view=groups');
  await page.getByRole('checkbox').first().check();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('1 document deleted.').waitFor();
  await page.evaluate(axe.source);
  expect(await findings(page)).toEqual([]);
  await page.route('**/select*', (route) =>
    route.fulfill({ status: 401, body: '{"error":{"code":401,"msg":"A key."}}' }),
  );
  await page.goto(`${demo.akin.url}/?q=x`);
  await page.getByText('needs a key.').first().waitFor();
  await page.evaluate(axe.source);
  expect(await findings(page)).toEqual([]);
  complaints.splice(0);
});
