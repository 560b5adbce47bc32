import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder, until } from './akin.ts';
import { openPage, type WatchedPage } from './browser.ts';
import {
  ASKS_FOR_DOCUMENTS,
  address,
  card,
  cards,
  complaintsOf,
  copiedBy,
  holdRequests,
  PAGE_SIZE,
  PRODUCT,
  search,
  settled,
  useDemoPage,
} from './demo-page.ts';
import { saveScreenshot } from './shot.ts';

const demo = useDemoPage();

describe('documents on the page', () => {
  it('selects many, deletes them, and brings them back', async () => {
    const page = await demo.visit('/?q=headphones');
    const collection = demo.akin.client.collection('my-collection');
    const { documents } = await collection.status();
    const boxes = cards(page).getByRole('checkbox');
    await boxes.nth(0).click();
    await boxes.nth(2).click({ modifiers: ['Shift'] });
    const bar = page.getByRole('region', { name: 'Selected documents' });
    await bar.getByText('3 selected').waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await saveScreenshot(page, 'selected');
    await page.setViewportSize({ width: 390, height: 844 });
    await saveScreenshot(page, 'selected-phone');
    const ids = await copiedBy(page, bar.getByRole('button', { name: 'Copy ids' }));
    expect(ids.split('\n')).toHaveLength(3);
    // Pages from another computer by http have no clipboard.
    await page.evaluate(`
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
      document.execCommand = () => { window.copied = document.activeElement.value; };
    `);
    await bar.getByRole('button', { name: 'Copy ids' }).click();
    await page.waitForFunction(`window.copied === ${JSON.stringify(ids)}`);
    const saved = page.waitForEvent('download');
    await bar.getByRole('button', { name: 'Save as CSV' }).click();
    const csv = (await (await (await saved).createReadStream()).toArray()).join('');
    expect(csv.split('\r\n')).toHaveLength(5);
    expect(csv).toMatch(/^"id".*"title"/);
    // The clock of the context: the other tests get a new one.
    demo.context = undefined;
    await page.clock.install();
    await bar.getByRole('button', { name: 'Delete' }).dblclick();
    // The offer stays while the mouse is over it.
    await page.getByText('3 documents deleted.').hover();
    await page.clock.fastForward('01:00');
    expect((await collection.status()).documents).toBe(documents - 3);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('3 documents deleted.').waitFor({ state: 'hidden' });
    expect((await collection.status()).documents).toBe(documents);
  });

  it('keeps what it deleted in a trash, which can be restored or emptied', async () => {
    const page = await demo.visit('/?q=headphones');
    const collection = demo.akin.client.collection('my-collection');
    const { documents } = await collection.status();
    const bar = page.getByRole('region', { name: 'Selected documents' });
    await cards(page).getByRole('checkbox').nth(0).click();
    await cards(page).getByRole('checkbox').nth(1).click();
    await bar.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('2 documents deleted.').waitFor();
    await page.getByRole('link', { name: 'Manage' }).click();
    await page.getByRole('link', { name: 'Trash (2)' }).click();
    await page.getByRole('heading', { name: 'Trash of my-collection' }).waitFor();
    await cards(page).nth(1).locator('.picture').click();
    const details = page.getByRole('dialog');
    await details.getByRole('button', { name: 'Select' }).waitFor();
    await saveScreenshot(page, 'trash-details');
    expect(await details.getByRole('button', { name: /^(Delete|Label|Title|Edit|Remove|Download)/ }).count()).toBe(0);
    await details.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('1 document restored to my-collection.').waitFor();
    await details.waitFor({ state: 'hidden' });
    expect((await collection.status()).documents).toBe(documents - 1);
    const { docs } = (await demo.akin.client.collection('my-collection.trash').select({ fl: 'id,trashed_at' }))
      .response;
    expect(docs).toEqual([{ id: expect.any(String), trashed_at: expect.stringMatching(/^20/) }]);
    await page.getByRole('button', { name: 'Empty the trash' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Empty the trash' }).click();
    await page.getByText('The trash is empty').waitFor();
    await page.getByRole('button', { name: 'Back to my-collection' }).click();
    await page.getByText(`${documents - 1} found`).waitFor();
  });

  it('drags over many, labels them, copies them to a collection, and keeps searches', async () => {
    const page = await demo.visit('/?q=headphones');
    const collection = demo.akin.client.collection('my-collection');
    const picture = (i: number) => cards(page).nth(i).locator('.picture');
    const dialog = page.getByRole('dialog');
    const counted = async () => (await collection.select({ fq: 'labels:loud', rows: 0 })).response.numFound;
    await picture(1).hover();
    await page.mouse.down();
    await picture(4).hover();
    await picture(3).hover();
    await page.mouse.up();
    const bar = page.getByRole('region', { name: 'Selected documents' });
    await bar.getByText('3 selected').waitFor();
    expect(await dialog.count()).toBe(0);
    await bar.getByRole('button', { name: 'Label…' }).click();
    await dialog.getByLabel('Label').fill('loud, on my head');
    await page.keyboard.press('Enter');
    await page.getByText('3 documents got the labels “loud” and “on my head”.').hover();
    expect(await counted()).toBe(3);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('got the labels').waitFor({ state: 'hidden' });
    expect(await counted()).toBe(0);

    await settled(page);
    await picture(0).focus();
    await page.keyboard.press('x');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+x');
    await bar.getByText('2 selected').waitFor();
    await bar.getByRole('button', { name: 'Copy to…' }).click();
    await dialog.getByLabel('Name of the collection').fill('loud ones');
    await dialog.getByRole('button', { name: 'Copy' }).click();
    // No collection may have this name: nothing is copied, and the page says so.
    await page.getByRole('alert').waitFor();
    await complaintsOf(demo.opened as WatchedPage);
    await bar.getByRole('button', { name: 'Copy to…' }).click();
    await dialog.getByLabel('Name of the collection').fill('loud');
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('2 documents copied to loud.').waitFor();
    // Nothing stays selected in another collection, whose documents may have the same ids.
    await cards(page).getByRole('checkbox').first().click();
    await bar.getByText('1 selected').waitFor();
    await page.getByLabel('Collection', { exact: true }).selectOption('loud');
    await bar.waitFor({ state: 'hidden' });
    await page.goBack();
    const copies = await demo.akin.client.collection('loud').select({ q: 'content_descriptor:*' });
    expect(copies.response.numFound).toBe(2);

    await page.locator('.saved summary').click();
    await page.getByRole('button', { name: 'Save this search…' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'headphones', exact: true }).waitFor();
    await page.goto(`${demo.akin.url}/`);
    await settled(page);
    await page.keyboard.press('?');
    await dialog.getByRole('heading', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.saved summary').click();
    await search(page, () => page.getByRole('link', { name: 'headphones', exact: true }).click());
    expect(address(page).get('q')).toBe('headphones');
  });

  it('forgets what was selected, asked and compared when one goes back', async () => {
    const page = await demo.visit();
    await page.getByRole('searchbox').fill('headphones');
    await search(page, () => page.getByRole('searchbox').press('Enter'));
    await cards(page).getByRole('checkbox').first().click();
    const bar = page.getByRole('region', { name: 'Selected documents' });
    await bar.getByText('1 selected').waitFor();
    await bar.getByRole('button', { name: 'Label…' }).click();
    const question = page.getByRole('dialog', { name: 'Label 1 document' });
    await question.waitFor();
    await page.goBack();
    await question.waitFor({ state: 'hidden' });
    await bar.waitFor({ state: 'hidden' });

    await page.getByRole('link', { name: 'Duplicates' }).click();
    await page.getByRole('button', { name: 'Compare' }).first().click();
    const compared = page.getByRole('dialog', { name: 'Compare' });
    await compared.waitFor();
    await page.goBack();
    await compared.waitFor({ state: 'hidden' });
  });

  it('shows a card that the arrow keys reach below the header', async () => {
    const page = await demo.visit();
    await cards(page).first().locator('.picture').focus();
    for (const key of ['Down', 'Down', 'Down', 'Down', 'Up', 'Up', 'Up']) await page.keyboard.press(`Arrow${key}`);
    const [header, card] = await Promise.all([
      page.locator('header').boundingBox(),
      cards(page)
        .filter({ has: page.locator(':focus') })
        .boundingBox(),
    ]);
    expect(header?.y).toBe(0);
    expect(card?.y).toBeGreaterThanOrEqual((header?.height ?? 0) - 1);
  });

  it('searches by an uploaded picture without the examples and the threshold of the search before', async () => {
    const page = await demo.visit(`/?like=${PRODUCT.id}&less=demo-001&min=0.9`);
    await search(page, () => page.locator('input[type=file]').setInputFiles(PRODUCT.file));
    await page.getByText('Similar to the uploaded picture').waitFor();
    expect([address(page).get('less'), address(page).get('min')]).toEqual([null, null]);
  });

  it('goes on with the search before when an uploaded file cannot be read', async () => {
    const { page } = await demo.open('/?view=changes');
    await page.getByText('All changes are visible').waitFor();
    const release = await holdRequests(page, ASKS_FOR_DOCUMENTS);
    await page.getByRole('link', { name: 'akin', exact: true }).click();
    await page.locator('.skeleton').first().waitFor();
    const file = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('This is no picture.') };
    await page.locator('header input[type=file]').setInputFiles(file);
    await page.getByRole('alert').getByText('not an image').waitFor();
    release();
    await settled(page);
    expect(await cards(page).count()).toBe(PAGE_SIZE);
    expect(await complaintsOf(demo.opened as WatchedPage)).toEqual([expect.stringContaining('415')]);
  });

  it('leaves it to the browser to drop text into the search box', async () => {
    const page = await demo.visit();
    const isTaken = (selector: string) =>
      page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.setData('text/plain', 'headphones');
        const event = new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true });
        return !document.querySelector('${selector}').dispatchEvent(event);
      })()`);
    expect([await isTaken('header input[type="search"]'), await isTaken('main')]).toEqual([false, true]);
  });

  it('says that nothing matches words after a search for copies', async () => {
    const page = await demo.visit(`/?like=${PRODUCT.id}&mode=duplicate`);
    await page.getByRole('searchbox').fill('id:nothing');
    await search(page, () => page.getByRole('searchbox').press('Enter'));
    expect((await page.locator('.note').innerText()).trim()).toBe('Nothing matches.');
  });

  it('shows all fields of a document, and filters by them', async () => {
    const page = await demo.visit(`/?like=${PRODUCT.id}`);
    await cards(page).first().locator('.picture').click();
    const details = page.getByRole('dialog');
    await details
      .locator('dl')
      .filter({ hasText: /Brand\s*Kestara.*Price\s*43\.9/s })
      .waitFor();
    await search(page, () => details.getByRole('button', { name: 'studio headphones', exact: true }).click());
    expect(address(page).getAll('fq')).toEqual(['labels:"studio headphones"']);
    const filtered = await cards(page).count();
    expect(filtered).toBeLessThan(PAGE_SIZE);
    await search(page, () => page.getByTitle('Remove this filter').click());
    // Without the picture of the query.
    expect(await cards(page).count()).toBe(PAGE_SIZE - 1);
    await cards(page).first().locator('.picture').click();
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'hidden' });
  });

  it('keeps the focus in the details, has them in its history, and shows them by their URL', async () => {
    const page = await demo.visit('/?q=headphones');
    const picture = cards(page).first().locator('.picture');
    await picture.click();
    const details = page.getByRole('dialog');
    const title = await details.getByRole('heading').textContent();
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab');
      // After the last element the browser itself gets the focus, never an element behind the dialog.
      expect(await page.evaluate('document.activeElement.matches("body, dialog, dialog *")')).toBe(true);
    }
    const shared = await openPage(demo.browser, page.url());
    await shared.page
      .getByRole('dialog')
      .getByRole('heading', { name: title ?? '' })
      .waitFor();
    await shared.page.getByRole('button', { name: 'Close' }).click();
    await shared.page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(address(shared.page).get('id')).toBe(null);
    expect(shared.complaints).toEqual([]);
    await shared.context.close();

    await page.goBack();
    await details.waitFor({ state: 'hidden' });
    expect([address(page).get('q'), address(page).get('id')]).toEqual(['headphones', null]);
    expect(await page.evaluate('document.activeElement === document.querySelector(".card .picture")')).toBe(true);
    await page.goForward();
    await details.getByRole('heading', { name: title ?? '' }).waitFor();
  });
});

describe('several collections', () => {
  it('can be chosen, each with its own documents and filters', async () => {
    const collection = demo.akin.client.collection('notes');
    await collection.create();
    await collection.add([{ id: 'note', title: 'a note without a picture', mood: 'glad' }], { commit: true });
    const page = await demo.visit('/?q=headphones');
    const choice = page.getByRole('combobox', { name: 'Collection' });
    await until('it is the usual one', async () => (await choice.inputValue()) === 'my-collection');
    await search(page, () => choice.selectOption('notes'));
    await page.getByText('1 found').waitFor();
    await page.getByRole('link', { name: '1 document', exact: true }).waitFor();
    expect([address(page).get('collection'), address(page).get('q')]).toEqual(['notes', null]);
    // Also in another tab.
    const duplicates = page.getByRole('link', { name: 'Duplicates' });
    expect(await duplicates.getAttribute('href')).toBe('?collection=notes&view=groups');
    // It cannot be compared with anything.
    expect(await cards(page).getByRole('button').allInnerTexts()).toEqual(['no picture']);
    await search(page, () => page.goBack());
    expect(await choice.inputValue()).toBe('my-collection');
    expect(address(page).get('q')).toBe('headphones');
    expect(await cards(page).count()).toBeGreaterThan(1);
  });
});

describe('a collection of one’s own', () => {
  it('is created on the page, filled with a folder, and deleted', async () => {
    const { folder, remove } = await temporaryFolder();
    await mkdir(path.join(folder, 'Holiday/sub'), { recursive: true });
    await copyFile(PRODUCT.file, path.join(folder, 'Holiday/sub/brio_mint.webp'));
    await writeFile(path.join(folder, 'Holiday/broken.jpg'), 'nothing');
    await writeFile(path.join(folder, 'Holiday/notes.txt'), 'nothing');

    const { page } = await demo.open('/?view=manage');
    await page.getByLabel('Name of the collection').fill('holiday');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('link', { name: 'holiday' }).click();
    await page.getByRole('heading', { name: 'This collection is empty' }).waitFor();
    await page.getByLabel('Choose a folder').setInputFiles(path.join(folder, 'Holiday'));
    const bar = page.getByRole('region', { name: 'Indexing', exact: true });
    await bar.getByText('1 failed').click();
    await bar.getByText('Holiday/broken.jpg').waitFor();
    await page.getByText('1 found').waitFor();
    await card(page, 'brio mint').getByRole('button', { name: 'Copies' }).click();
    await page.getByText('Similar to brio mint').waitFor();
    // The page itself retries the files that failed, also after an attempt without a response.
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const isReport = (url: URL) => /\/runs\/\w+$/.test(url.pathname);
    await page.route(isReport, async (route) => {
      await held;
      await route.abort();
    });
    const again = bar.getByRole('button', { name: 'Try again' });
    await again.click();
    expect(await again.isDisabled()).toBe(true);
    release();
    await page.getByRole('alert').getByText('akin does not answer').waitFor();
    await page.unroute(isReport);
    await again.click();
    await until('the files were sent again', async () => {
      const { runs } = await demo.akin.client.collection('holiday').runs();
      return runs.length === 1 && runs[0]?.total === 1 && runs[0].state === 'done' && runs[0].failed === 1;
    });
    await saveScreenshot(page, 'added');

    await page.getByRole('link', { name: 'Manage' }).click();
    await page.getByRole('button', { name: 'Delete holiday' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the collection').fill('notes');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The name is different').waitFor();
    await page.getByRole('button', { name: 'Delete holiday' }).click();
    await dialog.getByLabel('Name of the collection').fill('holiday');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: 'holiday' }).waitFor({ state: 'detached' });
    // The page shows another collection: it must not ask for the deleted one.
    expect(address(page).get('collection')).toBeNull();
    // The browser reports every response that is an error: those for the broken file, sent twice.
    const complaints = demo.opened?.complaints.splice(0) ?? [];
    expect(complaints.filter((text) => !/ 41[45]|ERR_FAILED/.test(text))).toEqual([]);
    await remove();
  });

  it('shows what akin is doing', async () => {
    const { page } = await demo.open('/?view=changes');
    const figures = page.getByRole('region', { name: 'This server' });
    await figures.getByText('Memory', { exact: true }).waitFor();
    // It is shown as long as there are searches.
    await until('the time of searches is shown', async () => {
      await demo.akin.client.collection('my-collection').select({ q: 'red' });
      return figures.getByText('Search time').isVisible();
    });
  });
});
