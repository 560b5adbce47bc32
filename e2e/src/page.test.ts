import { beforeAll, describe, expect, it } from '@jest/globals';
import { until } from './akin.ts';
import { openPage } from './browser.ts';
import {
  ASKS_FOR_DOCUMENTS,
  address,
  card,
  cards,
  copiedBy,
  holdRequests,
  names,
  PAGE_SIZE,
  PRODUCT,
  pictureLoads,
  search,
  settled,
  useDemoPage,
} from './demo-page.ts';
import { saveScreenshot } from './shot.ts';

const demo = useDemoPage();

describe('the page', () => {
  it('shows the collection with existing pictures, and more on request', async () => {
    const page = await demo.visit();
    const { documents: size } = await demo.akin.client.collection('my-collection').status();
    await page.getByText(`${size} found`).waitFor();
    const tries = page.locator('.try').getByRole('button');
    await tries.nth(2).waitFor();
    expect(await tries.count()).toBe(3);
    await page.getByText(`${size} documents`).waitFor();
    expect(await cards(page).count()).toBe(PAGE_SIZE);
    const picture = cards(page).first().locator('img');
    await pictureLoads(picture);
    await search(page, () => page.locator('.card').last().scrollIntoViewIfNeeded());
    expect(
      new Set(await page.locator('.card img').evaluateAll((all) => all.map((one) => one.getAttribute('src')))).size,
    ).toBeGreaterThanOrEqual(3 * PAGE_SIZE);
  });

  it.each([
    ['on a desk', 1280],
    ['on a phone', 390],
  ])('does not move the pictures when the filters come, %s', async (_, width) => {
    const page = await demo.visit();
    await page.setViewportSize({ width, height: 800 });
    const release = await holdRequests(page, /\/select\?/, (url) => !ASKS_FOR_DOCUMENTS.test(url));
    await page.reload();
    await pictureLoads(cards(page).first().locator('img'));
    await page.locator('.narrow[aria-busy="true"]').waitFor({ state: 'attached' });
    // The header is complete.
    await page.getByText(/^\d+ documents$/).waitFor({ state: 'attached' });
    const before = await cards(page).first().boundingBox();
    await saveScreenshot(page, `filters-counted-${width}`);
    release();
    await page.locator('.narrow[aria-busy="false"]').waitFor({ state: 'attached' });
    await page.locator('.try').getByRole('button').nth(2).waitFor();
    expect(await page.locator('.narrow summary').count()).toBeGreaterThan(0);
    expect(await cards(page).first().boundingBox()).toEqual(before);
    if (width < 800) expect(before?.y).toBeLessThan(800 / 3);
  });

  it('counts the filters although the next page comes first, or another search before Back', async () => {
    const page = await demo.visit();
    for (const leave of [
      () => page.locator('.card').last().scrollIntoViewIfNeeded(),
      () => cards(page).first().getByRole('button', { name: 'Similar' }).click(),
    ]) {
      const release = await holdRequests(page, /\/select\?/, (url) => !ASKS_FOR_DOCUMENTS.test(url));
      await page.reload();
      await page.locator('.narrow[aria-busy="true"]').waitFor({ state: 'attached' });
      await cards(page).first().waitFor();
      await Promise.all([page.waitForResponse((response) => ASKS_FOR_DOCUMENTS.test(response.url())), leave()]);
      await page.locator('#results[aria-busy="false"]').waitFor();
      if (address(page).has('like')) await page.goBack();
      release();
      await page.locator('.narrow[aria-busy="false"] summary').first().waitFor();
    }
  });

  it('finds words, then pictures similar to a result by content, by colour and as duplicates', async () => {
    const page = await demo.visit();
    await page.getByRole('searchbox').fill('studio headphones mint');
    await search(page, () => page.getByRole('searchbox').press('Enter'));
    expect(address(page).get('q')).toBe('studio headphones mint');
    await search(page, () => card(page, PRODUCT.title).getByRole('button', { name: 'Copies' }).click());
    expect(address(page).get('mode')).toBe('duplicate');
    const copies = await names(page);
    expect(copies).toContain(`${PRODUCT.title} (mirrored)`);
    expect(copies.length).toBeLessThan(20);
    expect(Number(await cards(page).first().locator('.score').textContent())).toBeGreaterThan(0.7);
    // Its own picture is no result: the header shows it.
    expect(copies).not.toContain(PRODUCT.title);
    await page.getByRole('region', { name: 'Search query' }).getByRole('button', { name: 'Details' }).click();
    await page.getByRole('dialog').getByRole('heading', { name: PRODUCT.title }).waitFor();
    await page.keyboard.press('Escape');

    const modes = page.getByRole('group', { name: 'Compare by' });
    await search(page, () => modes.getByRole('button', { name: 'Similar' }).click());
    await page.getByText(`Similar to ${PRODUCT.title}`).waitFor();
    expect((await names(page)).slice(0, 5).every((name) => name.includes('headphones'))).toBe(true);
    await search(page, () => cards(page).nth(1).getByRole('button', { name: 'Same colours' }).click());
    expect([address(page).get('mode'), address(page).get('like')]).toEqual(['color', expect.stringMatching(/^demo-/)]);
  });

  it('searches by a chosen picture, says that it is analyzing it, and others see the same by the URL', async () => {
    const page = await demo.visit();
    const release = await holdRequests(page, '**/analyze*');
    await page.locator('input[type=file]').setInputFiles(PRODUCT.file);
    const note = page.getByRole('status').filter({ hasText: 'Looking at your picture…' });
    await note.getByRole('progressbar').waitFor();
    await pictureLoads(note.locator('img'));
    await search(page, async () => release());
    await page.getByText('Similar to the uploaded picture').waitFor();
    expect(await note.count()).toBe(0);
    const found = await names(page);
    expect(found[0]).toBe(PRODUCT.title);
    const shared = await openPage(demo.browser, page.url());
    await settled(shared.page);
    expect(await names(shared.page)).toEqual(found);
    await pictureLoads(shared.page.getByRole('region', { name: 'Search query' }).locator('img'));
    const command = await copiedBy(page, page.getByRole('button', { name: 'Copy as curl' }));
    expect(command).toMatch(/^curl -F file=@picture.jpg 'http[^']*\/image\?rows=48'$/);
    expect(shared.complaints).toEqual([]);
    await shared.context.close();
  });

  it('reads colours, words and addresses from one box, and says what scores mean', async () => {
    const page = await demo.visit();
    await search(page, () => page.getByLabel('Search by colour').fill('#d02030'));
    expect(address(page).get('hex')).toBe('#d02030');
    expect((await names(page))[0]).toMatch(/red/);
    const box = page.getByRole('searchbox');
    await box.fill('#2030d0');
    await search(page, () => box.press('Enter'));
    expect([address(page).get('hex'), address(page).get('mode')]).toEqual(['#2030d0', 'color']);
    await box.fill('red');
    await search(page, () => box.press('Enter'));
    await page.getByText(/^[\d,.]+ found, nearest colours first$/).waitFor();
    // Scores of colours have no common scale.
    expect(await page.locator('.band, .score').count()).toBe(0);
    await search(page, () => page.getByRole('button', { name: 'Search for the word “red” instead' }).click());
    expect([address(page).get('hex'), address(page).get('q')]).toEqual([null, 'red']);

    await page.goto(`${demo.akin.url}/?like=${PRODUCT.id}`);
    await settled(page);
    const all = await cards(page).count();
    // The bands part the results; they hide none.
    expect(await page.locator('.band').count()).toBeGreaterThan(1);
    expect(all).toBe(PAGE_SIZE - 1);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('.copyspace').waitFor();
    await saveScreenshot(page, 'results-bands');
    await search(page, () => page.getByLabel('At least').fill('0.6'));
    expect(address(page).get('min')).toBe('0.6');
    expect(await cards(page).count()).toBeLessThan(all);
    const room = page.getByRole('group', { name: 'Space for text' }).getByRole('button', { disabled: false }).first();
    await search(page, () => room.click());
    expect(address(page).getAll('fq')).toEqual([expect.stringMatching(/^copyspace:"\d"$/)]);
    await page
      .getByTitle('Remove this filter')
      .getByText(/^Space for text: [a-z]/)
      .waitFor();
  });

  it('narrows by numbers and dates, finds values of a field, sorts, and mixes colours', async () => {
    const page = await demo.visit('/?q=headphones');
    await page.setViewportSize({ width: 1440, height: 900 });
    const least = page.getByLabel('Price, minimum');
    await least.waitFor();
    const all = await cards(page).count();
    await search(page, () => least.press('PageUp'));
    expect(address(page).getAll('fq')).toEqual([expect.stringMatching(/^price:\[\d+ TO \*\]$/)]);
    expect(await cards(page).count()).toBeLessThan(all);
    await search(page, () =>
      page
        .getByTitle('Remove this filter')
        .getByText(/^Price: from \d/)
        .click(),
    );
    expect(await cards(page).count()).toBe(all);

    await page.getByRole('button', { name: 'Labels: More…' }).click();
    await page.getByLabel('Find in Labels').fill('STUDIO');
    const value = page.locator('.narrow .value', { hasText: /^\s*studio headphones/ });
    await until('only what contains it is listed', async () => {
      const values = await page.locator('.narrow .long .value').allInnerTexts();
      return values.length > 0 && values.every((one) => one.includes('studio'));
    });
    await search(page, () => value.click());
    await search(page, () => page.getByLabel('Order').selectOption({ label: 'Price, lowest first' }));
    await saveScreenshot(page, 'filters');
    const prices = await page.evaluate<number[]>(
      `fetch('/api/cores/my-collection/select?rows=48&fl=price&' + new URLSearchParams(location.search))
        .then((response) => response.json()).then(({ response }) => response.docs.map(({ price }) => price))`,
    );
    expect(prices).toEqual([...prices].sort((a, b) => a - b));

    await page.goto(`${demo.akin.url}/?hex=%23d02030`);
    await settled(page);
    await search(page, () => page.getByRole('button', { name: '+ Colour' }).click());
    await search(page, () => page.getByLabel('Weight of colour 1').fill('7'));
    expect(address(page).get('hex')).toBe('#d02030:7,#808080:1');
    await saveScreenshot(page, 'colours');
  });
});

describe('hostile documents', () => {
  const HOSTILE = `"><img src=x onerror="alert(1)"><script>alert(2)</script>{{7*7}}\${7*7}<svg onload=alert(3)>`;
  const ID = `x' onmouseover='alert(4)' <b>"`;
  beforeAll(async () => {
    const collection = demo.akin.client.collection('hostile');
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
    const page = await demo.visit('/?collection=hostile');
    expect(await names(page)).toContain(HOSTILE);
    await cards(page).filter({ hasText: HOSTILE }).locator('.picture').click();
    const details = page.getByRole('dialog');
    expect(await details.getByRole('heading').textContent()).toBe(HOSTILE);
    await search(page, () => details.getByRole('button', { name: 'javascript:alert(5)', exact: true }).click());
    expect(await cards(page).count()).toBe(1);
  });

  it('run no script in the HTML responses, which show pictures, palettes and scores', async () => {
    const { page, complaints } = await demo.open('/api/cores/hostile/select?wt=html');
    expect(await page.locator('body').textContent()).toContain(HOSTILE);
    // These documents have no picture, but the code that writes the response cannot know that.
    await page.waitForLoadState('networkidle');
    expect(complaints.splice(0).filter((text) => !text.includes('404'))).toEqual([]);
    await page.goto(`${demo.akin.url}/api/cores/my-collection/image?rank.by.id=${PRODUCT.id}&wt=html`);
    const picture = page.locator('img').first();
    await picture.scrollIntoViewIfNeeded();
    await pictureLoads(picture);
    expect(await page.locator('svg rect').count()).toBeGreaterThan(0);
    await page.goto(`${demo.akin.url}/docs`);
    expect(await page.locator('body').textContent()).toContain('/openapi.json');
  });
});
