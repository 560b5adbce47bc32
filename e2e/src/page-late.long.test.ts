import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from './akin.ts';
import {
  ASKS_FOR_DOCUMENTS,
  address,
  cards,
  holdRequests,
  PAGE_SIZE,
  PRODUCT,
  search,
  settled,
  useDemoPage,
} from './demo-page.ts';

const demo = useDemoPage();

const filters = (page: Page) => page.locator('.narrow .facets').innerText();
const searchFor = (page: Page, words: string) =>
  search(page, async () => {
    await page.getByRole('searchbox').fill(words);
    await page.keyboard.press('Enter');
  });
const FURTHER_PAGE = /[?&]start=[1-9]/;
/** Lets no counts of filters come until the returned function is called. */
const holdCounts = (page: Page) => holdRequests(page, /\/select\?/, (url) => !ASKS_FOR_DOCUMENTS.test(url));

describe('an answer that comes late', () => {
  it('brings no filters of another search to one that is shown again', async () => {
    const page = await demo.visit();
    const more = page.getByRole('button', { name: 'Labels: More…' });
    await more.waitFor();
    const release = await holdCounts(page);
    await searchFor(page, 'headphones');
    await searchFor(page, 'mug');
    await more.click();
    await page.goBack();
    release();
    await until('the filters are those of the results', async () => /studio headphones/.test(await filters(page)));
    await page.waitForLoadState('networkidle');
    const shown = await filters(page);
    await page.reload();
    await settled(page);
    await page.locator('.narrow[aria-busy="false"]').waitFor();
    expect(shown).toBe(await filters(page));
  });

  it('brings the labels of an opened document that was changed meanwhile', async () => {
    const { page } = await demo.open('/health/live');
    const release = await holdRequests(page, /\/tag\?/);
    await page.goto(`${demo.akin.url}/?id=${PRODUCT.id}`);
    const details = page.getByRole('dialog');
    const remove = details.getByRole('button', { name: 'Remove the label mint', exact: true });
    await remove.click();
    await remove.waitFor({ state: 'detached' });
    release();
    await details.getByLabel('Predicted labels').waitFor();
  });
});

it('loads no further pages when another search begins before all pages are there again after a reload', async () => {
  const page = await demo.visit(`/?like=${PRODUCT.id}`);
  await search(page, () => page.locator('.card').last().scrollIntoViewIfNeeded());
  const release = await holdRequests(page, FURTHER_PAGE);
  await Promise.all([page.waitForRequest(FURTHER_PAGE), page.reload()]);
  const asked: (string | null)[] = [];
  page.on('request', (request) => {
    if (ASKS_FOR_DOCUMENTS.test(request.url())) asked.push(new URL(request.url()).searchParams.get('rows'));
  });
  await searchFor(page, 'headphones');
  release();
  await settled(page);
  expect(asked).toEqual([String(PAGE_SIZE)]);
});

it.each([
  ['the status', 0, false],
  ['the status that is asked for first, which comes late', 1, false],
  ['a status before one that was asked for earlier, which comes late', 1, true],
])(
  'the page knows the fields of documents that came while another view was open: by %s',
  async (_, late, isAnswered) => {
    const collection = demo.akin.client.collection(`moods${late}${Number(isAnswered)}`);
    await collection.create();
    const { page } = await demo.open('/health/live');
    let asked = 0;
    const release = await holdRequests(page, /\/cores\/moods\d+$/, () => ++asked <= late, isAnswered);
    await page.goto(`${demo.akin.url}/?collection=${collection.name}&view=changes`);
    await page.getByText('All changes are visible').waitFor();
    const documents = ['glad', 'sad', 'glad', 'sad'].map((mood, i) => ({ id: `n${i}`, mood }));
    await collection.add(documents, { commit: true });
    // The first count is of visible documents; before, four are pending.
    await page.locator('.counts div:first-child dd').getByText('4', { exact: true }).waitFor();
    const counted = late === 0 ? undefined : page.waitForResponse(/\/cores\/moods\d+$/);
    release();
    await counted;
    await page.getByRole('link', { name: 'akin', exact: true }).click();
    await page.locator('.narrow summary').getByText('Mood').waitFor();
  },
);

it('the filters of fields that are new in the results come with the status of their commit', async () => {
  const collection = demo.akin.client.collection('weather');
  await collection.create();
  const days = [1, 2, 3, 4].map((i) => ({ id: `d${i}`, season: i % 2 === 0 ? 'spring' : 'autumn' }));
  await collection.add(days, { commit: true });
  const { page } = await demo.open(`/?collection=${collection.name}`);
  await settled(page);
  const release = await holdRequests(page, /\/cores\/weather$/);
  await collection.add(
    days.map((day, i) => ({ ...day, weather: i < 2 ? 'rain' : 'sun' })),
    { commit: true },
  );
  await search(page, () => page.getByRole('searchbox').press('Enter'));
  await page.locator('.narrow[aria-busy="false"]').waitFor();
  release();
  await page.locator('.narrow summary').getByText('Weather').waitFor();
});

it('a second click closes nothing but the details', async () => {
  const page = await demo.visit();
  await searchFor(page, 'headphones');
  await cards(page).first().locator('.picture').click();
  await page.evaluate(`for (const _ of [1, 2]) document.querySelector('dialog.details .close').click()`);
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(address(page).get('q')).toBe('headphones');
});
