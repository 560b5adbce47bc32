import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { type OwnAkin, serveOnPostgres, until } from './akin.ts';
import { openPage, startBrowser, type WatchedPage } from './browser.ts';
import { address, cards, pictureLoads, search, settled } from './demo-page.ts';
import { triangles } from './pictures.ts';
import { saveScreenshot } from './shot.ts';

/** Two pictures, and a third that shows both. */
let akin: OwnAkin;
let browser: Browser;
let opened: WatchedPage | undefined;
let red: Buffer;
let both: Buffer;

beforeAll(async () => {
  browser = await startBrowser();
  akin = await serveOnPostgres(['--parts']);
  red = await triangles(1, (any) => [255, any(), 0]);
  const blue = await triangles(2, (any) => [0, any(), 255]);
  both = await sharp({ create: { width: 1200, height: 450, channels: 3, background: '#fff' } })
    .composite([
      { input: red, left: 0, top: 0 },
      { input: blue, left: 600, top: 0 },
    ])
    .jpeg()
    .toBuffer();
  const collection = akin.client.collection('my-collection');
  for (const [id, bytes] of Object.entries({ red, blue, both })) {
    await collection.addPicture({ id }, new Blob([Uint8Array.from(bytes)]));
  }
  await collection.commit();
});
afterAll(async () => {
  await browser?.close();
  await akin?.end();
});
afterEach(async () => {
  await opened?.context.close();
  expect(opened?.complaints).toEqual([]);
});

async function visit(path: string): Promise<Page> {
  opened = await openPage(browser, `${akin.url}${path}`);
  await settled(opened.page);
  return opened.page;
}

const ids = (page: Page, of: string) =>
  page.locator(of).evaluateAll((all) => all.map((one) => one.getAttribute('data-id') ?? one.getAttribute('title')));

describe('parts of pictures on the page', () => {
  it('searches with a part, drawn by mouse and keyboard, which the link keeps', async () => {
    const page = await visit('/?like=both&mode=color');
    await page.getByRole('button', { name: 'Search a part…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Search this part' });
    // Before, the canvas has no height.
    await pictureLoads(dialog.locator('.region-canvas img'));
    const picture = await dialog.locator('.region-canvas').boundingBox();
    const { x = 0, y = 0, width = 0, height = 0 } = picture ?? {};
    await page.mouse.move(x + width * 0.6, y + height * 0.1);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.9, y + height * 0.9, { steps: 3 });
    await page.mouse.up();
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('ArrowUp');
    await saveScreenshot(page, 'region');
    await search(page, () => dialog.getByRole('button', { name: 'Search', exact: true }).click());
    const region = (address(page).get('region') ?? '').split(',').map(Number);
    for (const [i, side] of [0.6, 0.08, 0.32, 0.8].entries()) expect(region[i]).toBeCloseTo(side, 1);
    await search(page, () => page.getByRole('button', { name: 'Same colours' }).first().click());
    expect(await ids(page, '.card')).toEqual(['blue', 'red']);
    await page.reload();
    await settled(page);
    await page.locator('.question .cut-out img').waitFor();
    expect(await ids(page, '.card')).toEqual(['blue', 'red']);
  });

  it('searches with a part at the first tap after a finger has drawn it and left in motion', async () => {
    const page = await visit('/?like=both&mode=color');
    await page.getByRole('button', { name: 'Search a part…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Search this part' });
    await pictureLoads(dialog.locator('.region-canvas img'));
    const centre = async (element: Locator) => {
      const { x = 0, y = 0, width = 0, height = 0 } = (await element.boundingBox()) ?? {};
      return { x: x + width / 2, y: y + height / 2 };
    };
    const { x, y } = await centre(dialog.locator('.region-canvas'));
    const button = await centre(dialog.getByRole('button', { name: 'Search', exact: true }));
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
      devtools.send('Input.dispatchTouchEvent', { type, touchPoints });
    await touch('touchStart', { x, y });
    for (let i = 1; i <= 8; i += 1) await touch('touchMove', { x: x + 20 * i, y: y + 15 * i });
    await touch('touchEnd');
    await search(page, async () => {
      await touch('touchStart', button);
      await touch('touchEnd');
    });
    const region = (address(page).get('region') ?? '').split(',').map(Number);
    for (const [i, side] of [0.5, 0.5].entries()) expect(region[i]).toBeCloseTo(side, 1);
  });

  it('finds copies of a part of an upload, also after a reload', async () => {
    const page = await visit('/');
    const corner = await sharp(red).extract({ left: 60, top: 40, width: 480, height: 370 }).tiff().toBuffer();
    await search(page, () =>
      page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'part.tiff', mimeType: 'image/tiff', buffer: corner }),
    );
    const foundBoth = async () => (await ids(page, '.card')).sort().join() === 'both,red';
    await page.getByRole('button', { name: 'Copies' }).first().click();
    await until('both pictures with the part are found', foundBoth);
    await page.reload();
    await settled(page);
    expect(await foundBoth()).toBe(true);
  });

  it('searches with a part of an uploaded picture that the browser cannot show', async () => {
    const page = await visit('/');
    const buffer = await sharp(both).tiff().toBuffer();
    await search(page, () =>
      page.locator('input[type=file]').first().setInputFiles({ name: 'both.tiff', mimeType: 'image/tiff', buffer }),
    );
    await page.getByRole('button', { name: 'Search a part…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Search this part' });
    await pictureLoads(dialog.locator('.region-canvas img'));
    for (let i = 0; i < 15; i += 1) await page.keyboard.press('ArrowRight');
    const secondFinger = { pointerId: 2, isPrimary: false, clientX: 0, clientY: 0 };
    for (const type of ['pointerdown', 'pointermove']) {
      await dialog.locator('.region-canvas').dispatchEvent(type, secondFinger);
    }
    await search(page, () => page.keyboard.press('Enter'));
    await search(page, () => page.getByRole('button', { name: 'Same colours' }).first().click());
    expect((await ids(page, '.card'))[0]).toBe('blue');
    await page.getByRole('button', { name: 'Search a part…' }).click();
    await dialog.waitFor();
    await page.goBack();
    await dialog.waitFor({ state: 'hidden' });
  });

  it('shows two rankings of one query side by side: by modes, and by weights', async () => {
    const page = await visit('/?like=red&more=blue');
    await page.getByRole('button', { name: 'Side by side' }).click();
    const sides = page.getByRole('region', { name: 'Two rankings side by side' }).locator('.side');
    await sides.nth(1).getByText('3 of 3 are on both sides').waitFor();
    await page.goto(`${akin.url}/?hex=%23e00000:9,%230000e0:1`);
    await settled(page);
    expect((await ids(page, '.card'))[0]).toBe('red');
    await page.getByRole('button', { name: 'Side by side' }).click();
    const weights = sides.nth(1).getByRole('slider');
    await weights.nth(0).press('Home');
    await weights.nth(1).press('End');
    await until('the weights count', async () => (await ids(page, '.side:last-child li'))[0] === 'blue');
    expect((await ids(page, '.side:first-child li'))[0]).toBe('red');
    await sides.nth(1).locator('.move').filter({ hasText: '↑' }).first().waitFor();
    await saveScreenshot(page, 'side-by-side');
  });

  it('shows what contains a picture, and what it contains, with the part on both', async () => {
    const page = await visit('/?id=red');
    const parts = page.getByRole('dialog').getByRole('region', { name: 'Parts in common' });
    await parts.getByText('Found inside').waitFor();
    const box = parts.locator('.part-box');
    await until('the box has the shape of the picture', async () =>
      /^0 0 \d\d+/.test((await box.getAttribute('viewBox')) ?? ''),
    );
    await saveScreenshot(page, 'parts');
    await parts.getByRole('button').click();
    await parts.getByText('Contains').first().waitFor();
    expect(await parts.getByText('Contains').count()).toBe(2);
    expect(await cards(page).count()).toBe(3);
  });

  it('shows where a copy is in a larger picture when the pointer is on it', async () => {
    const page = await visit('/?like=red&mode=duplicate');
    expect(await ids(page, '.card')).toEqual(['both']);
    await cards(page).hover();
    await cards(page).locator('.part-box').waitFor();
    expect((await cards(page).locator('.part-box rect').first().getAttribute('width'))?.slice(0, 1)).toMatch(/[45]/);
  });

  it('lists the parts of other pictures in the review, and forgets what has nothing in common', async () => {
    const collection = akin.client.collection('my-collection');
    await until('the pairs are found', async () => (await collection.partPairs()).pairs.length === 2);
    opened = await openPage(browser, `${akin.url}/?view=groups`);
    const pairs = opened.page.getByRole('region', { name: 'Parts of other pictures' });
    await pairs.getByText('2 pairs').waitFor();
    await saveScreenshot(opened.page, 'part-pairs');
    await pairs
      .getByRole('listitem')
      .filter({ hasText: 'blue in both' })
      .getByRole('button', { name: 'Not duplicates' })
      .click();
    await pairs.getByText('1 pair').waitFor();
    expect((await collection.partPairs()).pairs.map(({ part, whole }) => [part.id, whole.id])).toEqual([
      ['red', 'both'],
    ]);
  });
});
