import { statSync, utimesSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type OwnAkin, serveOnPostgres, temporaryFolder, until } from './akin.ts';
import { expectAccessible, openPage, startBrowser } from './browser.ts';
import { settled } from './demo-page.ts';
import { photo, picture, UNLIKE } from './pictures.ts';
import { saveScreenshot } from './shot.ts';

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let pictures: string;
let browser: Browser;
let akin: OwnAkin;

/** Outside of the folder: the folder of the broken picture, with the picture as it should be. */
const mended = () => path.join(place.folder, 'mended');
const changedAt = (file: string) => Math.floor(statSync(file).ctimeMs);

beforeAll(async () => {
  browser = await startBrowser();
  place = await temporaryFolder();
  pictures = path.join(place.folder, 'pictures');
  await mkdir(path.join(pictures, 'trip'), { recursive: true });
  await mkdir(path.join(pictures, 'torn'));
  await mkdir(mended());
  const [one, two, three] = await Promise.all(UNLIKE.map((seed) => picture(seed, 900, 600)));
  if (!one || !two || !three) throw new Error('three drawings');
  await writeFile(path.join(pictures, 'one.jpg'), one);
  await writeFile(path.join(pictures, 'trip', 'two.jpg'), await photo(two));
  const broken = Buffer.concat([three.subarray(0, 200), Buffer.alloc(three.length - 200)]);
  const twins = [path.join(pictures, 'torn', 'broken.jpg'), path.join(mended(), 'broken.jpg')] as const;
  await writeFile(twins[0], broken);
  await writeFile(twins[1], three);
  // With the same size and times, akin tries the file again only when it is told to.
  do for (const file of twins) utimesSync(file, 1_600_000_000, 1_600_000_000);
  while (changedAt(twins[0]) !== changedAt(twins[1]));
  await writeFile(path.join(pictures, 'text "a", b.jpg'), 'This is no picture.');
  akin = await serveOnPostgres([pictures]);
  await akin.command.waitForOutput(/\d+ indexed.*Three requests/s);
});
afterAll(async () => {
  await browser?.close();
  await akin?.end();
  await place?.remove();
});

describe('the page of a folder', () => {
  it('says what failed in the folder, saves it as CSV, tries it again, and forgets it', async () => {
    const { page, context, complaints } = await openPage(browser, `${akin.url}/`);
    const bar = page.getByRole('region', { name: 'Indexing' });
    await bar.getByText(`2 pictures indexed: ${pictures}`).waitFor();
    await bar.getByRole('button', { name: '2 failed' }).click();
    await bar.getByText('akin cannot read this type of picture').waitFor();
    await bar.getByText(path.join(pictures, 'text "a", b.jpg')).waitFor();
    await saveScreenshot(page, 'runs-failures');
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await saveScreenshot(page, 'runs-failures-phone');
    await expectAccessible(page);

    const saved = page.waitForEvent('download');
    await bar.getByRole('button', { name: 'Save as CSV' }).click();
    const file = await (await saved).createReadStream();
    const csv = (await file.toArray()).join('');
    expect(csv.split('\r\n')).toHaveLength(4);
    expect(csv).toContain(`"${path.join(pictures, 'text ""a"", b.jpg')}","unsupported-image",`);

    await rename(path.join(pictures, 'torn'), path.join(place.folder, 'replaced'));
    await rename(mended(), path.join(pictures, 'torn'));
    await bar.getByRole('button', { name: 'Try again' }).click();
    await bar.getByText('1 picture indexed, 2 unchanged').waitFor();
    await bar.getByRole('button', { name: '1 failed' }).waitFor();
    // It waits, so that nothing moves under the pointer.
    await page.getByRole('button', { name: '1 new' }).click();
    await page.getByText('3 found').waitFor();
    await bar.getByRole('button', { name: 'Dismiss' }).click();
    await bar.waitFor({ state: 'hidden' });
    await until('the run is forgotten', async () => {
      const { runs } = await akin.client.collection('my-collection').runs();
      return runs.length === 0;
    });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('shows how far a run is', async () => {
    const collection = akin.client.collection('my-collection');
    const report = { source: '/home/ada/Pictures', state: 'running', total: 3_000, done: 1_240, unchanged: 0 } as const;
    await collection.reportRun('elsewhere', { ...report, failed: 3, secondsLeft: 125 });
    const { page, context } = await openPage(browser, `${akin.url}/`);
    const bar = page.getByRole('region', { name: 'Indexing' });
    // Between them comes the rate, when it is known.
    await bar.getByText(/1,243 of 3,000 · .*2 min left/).waitFor();
    await bar.getByRole('progressbar').waitFor();
    await saveScreenshot(page, 'runs-running');
    await expectAccessible(page);
    await collection.reportRun('elsewhere', { ...report, state: 'done', done: 3_000, failed: 0 });
    await bar.getByText('3,000 pictures indexed').waitFor();
    const absent = { path: '/mnt/card', code: 'absent', msg: 'it is not there' };
    const failures = [absent, { path: '/mnt/a.jpg', code: 'unreadable', msg: 'broken' }];
    await collection.reportRun('elsewhere', { ...report, state: 'done', done: 0, failed: 1, failures: [absent] });
    await collection.reportRun('other', { ...report, state: 'done', failed: 2, failures });
    await page.reload();
    await bar.getByText('/mnt/card is not there.').nth(1).waitFor();
    const named = bar.locator('.run', { hasText: '/mnt/card' });
    expect(await named.getByRole('button', { name: /failed/ }).allTextContents()).toEqual([
      expect.stringContaining('1 failed'),
    ]);
    expect(await named.first().textContent()).not.toMatch(/\b0 pictures/);
    await saveScreenshot(page, 'runs-absent');
    await expectAccessible(page);
    for (const id of ['elsewhere', 'other']) await collection.dismissRun(id);
    await context.close();
  });
});

describe('the original of a picture', () => {
  const details = (page: Page) => page.getByRole('dialog');
  const full = (page: Page) => details(page).locator('img.full');

  it('is shown whole, zooms, and leads to the next one and back', async () => {
    const { page, context, complaints } = await openPage(browser, `${akin.url}/`);
    await settled(page);
    await page.locator('.card .picture').first().click();
    await full(page).waitFor();
    expect(
      await full(page).evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
    ).toBeGreaterThan(500);
    const first = await details(page).getByRole('heading').textContent();
    const box = await full(page).boundingBox();
    expect((box?.y ?? -1) >= 0 && (box?.y ?? 0) + (box?.height ?? 0) <= (page.viewportSize()?.height ?? 0)).toBe(true);
    await saveScreenshot(page, 'details');
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await saveScreenshot(page, 'details-phone');
    await expectAccessible(page);
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.keyboard.press('z');
    await details(page).locator('.zoomed').waitFor();
    await page.keyboard.press('z');
    await page.keyboard.press('ArrowRight');
    await details(page)
      .getByRole('heading', { name: first ?? '' })
      .waitFor({ state: 'hidden' });
    await full(page).waitFor();
    await page.keyboard.press('ArrowLeft');
    await details(page)
      .getByRole('heading', { name: first ?? '' })
      .waitFor();

    await page.goto(`${akin.url}/?id=trip%2Ftwo.jpg`);
    await details(page)
      .getByText(path.join(pictures, 'trip', 'two.jpg'))
      .waitFor();
    expect(await details(page).locator('dl').textContent()).toMatch(/Taken\s*Jun 15, 2023, 2:30.*Akinon A-1/s);
    await details(page).getByRole('button', { name: 'Same colours' }).click();
    await page.getByText('Similar to two').waitFor();
    await details(page).waitFor({ state: 'hidden' });
    await page.goBack();
    await details(page).getByRole('heading', { name: 'two' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is not there if its file is missing: then the page says so, and shows the thumbnail as it is', async () => {
    const collection = akin.client.collection('my-collection');
    await rm(path.join(pictures, 'trip/two.jpg'));
    await until('akin has noticed', async () => (await collection.get('trip/two.jpg'))?.missing === true);
    const { page, context, complaints } = await openPage(browser, `${akin.url}/`);
    await settled(page);
    expect(await page.locator('.card .gone').allTextContents()).toEqual(['missing']);
    await saveScreenshot(page, 'missing');
    await page.locator('details', { hasText: 'File is missing' }).getByRole('button').click();
    await page.getByText('1 found').waitFor();
    await page.locator('.card .picture').click();
    await details(page).getByText('The drive may not be connected.').waitFor();
    const small = await details(page).locator('img.small').boundingBox();
    expect(Math.max(small?.width ?? 0, small?.height ?? 0)).toBeLessThanOrEqual(256);
    await saveScreenshot(page, 'missing-details');
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
