import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { temporaryFolder, until } from './akin.ts';
import { openPage } from './browser.ts';
import {
  address,
  card,
  cards,
  clipboard,
  DEMO,
  names,
  PRODUCT,
  search,
  settled,
  useDemoPage,
  widthOf,
} from './demo-page.ts';
import { pasteJson } from './shell.ts';
import { shot } from './shot.ts';

const PAGE_SIZE = 48;

const demo = useDemoPage();

describe('the page', () => {
  it('shows the collection with pictures that are there, and more when asked', async () => {
    const page = await demo.visit();
    const { documents: size } = await demo.akin.client.collection('my-collection').status();
    await page.getByText(`${size} found`).waitFor();
    const tries = page.locator('.try').getByRole('button');
    await tries.nth(2).waitFor();
    expect(await tries.count()).toBe(3);
    await page.getByText(`${size} documents`).waitFor();
    expect(await cards(page).count()).toBe(PAGE_SIZE);
    const picture = cards(page).first().locator('img');
    expect(await widthOf(picture)).toBeGreaterThan(0);
    await search(page, () => page.locator('.card').last().scrollIntoViewIfNeeded());
    expect(
      new Set(await page.locator('.card img').evaluateAll((all) => all.map((one) => one.getAttribute('src')))).size,
    ).toBeGreaterThanOrEqual(3 * PAGE_SIZE);
  });

  it('lists thousands, of which few are drawn, and leads through them by the arrows', async () => {
    const collection = demo.akin.client.collection('many');
    await collection.create();
    const documents = Array.from({ length: 1_500 }, (_, i) => ({ id: `n${i}`, title: `thing ${i}`, n: i }));
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
        return (await shown()).includes('n1499');
      });
      expect(await cards(page).count()).toBeLessThan(300);
      expect(await page.getByRole('listitem').filter({ hasText: 'thing 1499' }).getAttribute('aria-posinset')).toBe(
        '1500',
      );
      await page.evaluate('scrollTo(0, 0)');
      await until('the first one is in sight', async () => (await shown()).includes('n0'));
    }
    await page.reload();
    await settled(page);
    expect(await page.getByRole('button', { name: 'Rows' }).getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('Tab');
    await page.getByRole('link', { name: 'Skip to the results' }).press('Enter');
    await cards(page).first().locator('.picture').focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
    const focused = () => page.evaluate('document.activeElement.closest(".card").dataset.id');
    expect(await focused()).toBe('n1');
    // One card of the grid takes the focus by Tab.
    expect(await page.locator('.card .picture[tabindex="0"]').count()).toBe(1);
    await page.keyboard.press('End');
    expect(await focused()).not.toBe('n1');
  });

  it('finds words, then what looks like a hit by content, by colour and as duplicate', async () => {
    const page = await demo.visit();
    await page.getByRole('searchbox').fill('studio headphones mint');
    await search(page, () => page.getByRole('searchbox').press('Enter'));
    expect(address(page).get('q')).toBe('studio headphones mint');
    await search(page, () => card(page, PRODUCT.title).getByRole('button', { name: 'Copies' }).click());
    expect(address(page).get('mode')).toBe('duplicate');
    const copies = await names(page);
    expect(copies[0]).toBe(PRODUCT.title);
    expect(copies).toContain(`${PRODUCT.title} (mirrored)`);
    expect(copies.length).toBeLessThan(20);
    expect(await cards(page).first().locator('.score').textContent()).toBe('1');

    const modes = page.getByRole('group', { name: 'Compare by' });
    await search(page, () => modes.getByRole('button', { name: 'Similar' }).click());
    await page.getByText(`Like ${PRODUCT.title}`).waitFor();
    expect((await names(page)).slice(0, 5).every((name) => name.includes('headphones'))).toBe(true);
    await search(page, () => cards(page).nth(1).getByRole('button', { name: 'Same colours' }).click());
    expect([address(page).get('mode'), address(page).get('like')]).toEqual(['color', expect.stringMatching(/^demo-/)]);
  });

  it('goes back, and shows the same for the same address', async () => {
    const page = await demo.visit(`/?like=${PRODUCT.id}`);
    const first = await names(page);
    await search(page, () => page.getByRole('button', { name: 'Copies' }).first().click());
    expect(await names(page)).not.toEqual(first);
    await search(page, () => page.goBack());
    expect(await names(page)).toEqual(first);
    await page.reload();
    await settled(page);
    expect(await names(page)).toEqual(first);
  });

  it('searches by a picture that is picked, and the address alone gives the same to others', async () => {
    const page = await demo.visit();
    await search(page, () => page.locator('input[type=file]').setInputFiles(PRODUCT.file));
    await page.getByText('Like the uploaded picture').waitFor();
    const found = await names(page);
    expect(found[0]).toBe(PRODUCT.title);
    const shared = await openPage(demo.browser, page.url());
    await settled(shared.page);
    expect(await names(shared.page)).toEqual(found);
    expect(shared.complaints).toEqual([]);
    await shared.context.close();
  });

  it('searches by a picture that is dropped, and says what is wrong with a file that is none', async () => {
    const page = await demo.visit();
    await search(page, () => drop(page, PRODUCT.file, 'image/webp'));
    expect((await names(page))[0]).toBe(PRODUCT.title);
    await drop(page, path.join(DEMO, 'documents.json'), 'text/plain');
    expect(await page.getByRole('alert').textContent()).toContain('not an image');
    // The browser tells of every answer that is an error; this one was asked for.
    expect(demo.opened?.complaints.splice(0)).toEqual([expect.stringContaining('415')]);
  });

  it('searches by colour', async () => {
    const page = await demo.visit();
    await search(page, () => page.getByLabel('Search by colour').fill('#d02030'));
    expect(address(page).get('hex')).toBe('#d02030');
    expect((await names(page))[0]).toMatch(/red/);
  });

  it('reads colours, words and addresses from one box, and says what scores mean', async () => {
    const page = await demo.visit();
    const box = page.getByRole('searchbox');
    await box.fill('#d02030');
    await search(page, () => box.press('Enter'));
    expect([address(page).get('hex'), address(page).get('mode')]).toEqual(['#d02030', 'color']);
    await box.fill('red');
    await search(page, () => box.press('Enter'));
    await page.getByText(/^[\d,.]+ found, nearest first$/).waitFor();
    await search(page, () => page.getByRole('button', { name: 'Search for the word “red” instead' }).click());
    expect([address(page).get('hex'), address(page).get('q')]).toEqual([null, 'red']);

    await page.goto(`${demo.akin.url}/?like=${PRODUCT.id}`);
    await settled(page);
    const all = await cards(page).count();
    await page.getByRole('heading', { name: /^Same/ }).waitFor();
    expect(all).toBe(PAGE_SIZE);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('.copyspace').waitFor();
    await shot(page, 'results-bands');
    await search(page, () => page.getByLabel('At least').fill('0.6'));
    expect(address(page).get('min')).toBe('0.6');
    expect(await cards(page).count()).toBeLessThan(all);
    const room = page.getByRole('group', { name: 'Room for text' }).getByRole('button', { disabled: false }).first();
    await search(page, () => room.click());
    expect(address(page).getAll('fq')).toEqual([expect.stringMatching(/^copyspace:"\d"$/)]);
    await page
      .getByTitle('Remove this filter')
      .getByText(/^Room for text: [a-z]/)
      .waitFor();
  });

  it('narrows by numbers and dates, finds values of a field, sorts, and mixes colours', async () => {
    const page = await demo.visit('/?q=headphones');
    await page.setViewportSize({ width: 1440, height: 900 });
    const least = page.getByLabel('Price, least');
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
    await shot(page, 'filters');
    const prices = await page.evaluate<number[]>(
      `fetch('/api/cores/my-collection/select?rows=48&fl=price&' + new URLSearchParams(location.search))
        .then((answer) => answer.json()).then(({ response }) => response.docs.map(({ price }) => price))`,
    );
    expect(prices).toEqual([...prices].sort((a, b) => a - b));

    await page.goto(`${demo.akin.url}/?hex=%23d02030`);
    await settled(page);
    await search(page, () => page.getByRole('button', { name: '+ Colour' }).click());
    await search(page, () => page.getByLabel('Weight of colour 1').fill('7'));
    expect(address(page).get('hex')).toBe('#d02030:7,#808080:1');
    await shot(page, 'colours');
  });

  it('finds what was taken nearby', async () => {
    const page = await demo.visit('/?fq=city:"Galway"');
    await cards(page).first().locator('.picture').click();
    await search(page, () => page.getByRole('dialog').getByRole('button', { name: 'Nearby' }).click());
    await page
      .getByTitle('Remove this filter')
      .getByText(/^Within 25 km of/)
      .waitFor();
    await search(page, () => page.getByLabel('How far away').selectOption('500'));
    expect(address(page).getAll('fq').at(-1)).toMatch(/ d=500\}$/);
  });

  it('refines a search by more and less, and keeps that in the address', async () => {
    const page = await demo.visit(`/?like=${PRODUCT.id}`);
    const open = () => cards(page).nth(3).locator('.picture').click();
    await open();
    await search(page, () => page.getByRole('dialog').getByRole('button', { name: 'Less like this' }).click());
    const [less] = address(page).getAll('less');
    const chip = page.getByTitle('Leave this picture out of the search');
    await chip.getByText(`less like ${less}`).waitFor();
    await shot(page, 'less-like');
    const found = await names(page);
    await page.reload();
    await settled(page);
    expect(await names(page)).toEqual(found);
    await search(page, () => chip.click());
    expect(address(page).getAll('less')).toEqual([]);
    expect(await names(page)).not.toEqual(found);
  });

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
    await shot(page, 'selected');
    await page.setViewportSize({ width: 390, height: 844 });
    await shot(page, 'selected-phone');
    await bar.getByRole('button', { name: 'Copy ids' }).click();
    expect((await clipboard(page)).split('\n')).toHaveLength(3);
    const saved = page.waitForEvent('download');
    await bar.getByRole('button', { name: 'Save as CSV' }).click();
    const csv = (await (await (await saved).createReadStream()).toArray()).join('');
    expect(csv.split('\r\n')).toHaveLength(5);
    expect(csv).toMatch(/^"id".*"title"/);
    await page.clock.install();
    await bar.getByRole('button', { name: 'Delete' }).click();
    // The offer stays for as long as it is pointed at.
    await page.getByText('3 documents deleted.').hover();
    await page.clock.fastForward('01:00');
    expect((await collection.status()).documents).toBe(documents - 3);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('3 documents deleted.').waitFor({ state: 'hidden' });
    expect((await collection.status()).documents).toBe(documents);
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
    await dialog.getByLabel('Label').fill('loud');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByText('3 documents got the label “loud”.').hover();
    expect(await counted()).toBe(3);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('got the label').waitFor({ state: 'hidden' });
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
    demo.opened?.complaints.splice(0);
    await bar.getByRole('button', { name: 'Copy to…' }).click();
    await dialog.getByLabel('Name of the collection').fill('loud');
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('2 documents copied to loud.').waitFor();
    const copies = await demo.akin.client.collection('loud').select({ q: 'content_descriptor:*' });
    expect(copies.response.numFound).toBe(2);

    await page.locator('.saved summary').click();
    await page.getByRole('button', { name: 'Save this search…' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.goto(`${demo.akin.url}/`);
    await settled(page);
    await page.keyboard.press('?');
    await dialog.getByRole('heading', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.saved summary').click();
    await search(page, () => page.getByRole('link', { name: 'headphones', exact: true }).click());
    expect(address(page).get('q')).toBe('headphones');
  });

  it('tells all about a document, and filters by what it says', async () => {
    const page = await demo.visit(`/?like=${PRODUCT.id}`);
    await cards(page).first().locator('.picture').click();
    const details = page.getByRole('dialog');
    expect(await details.locator('dl').textContent()).toMatch(/Brand\s*Kestara.*Price\s*43\.9/s);
    await search(page, () => details.getByRole('button', { name: 'studio headphones' }).click());
    expect(address(page).getAll('fq')).toEqual(['labels:"studio headphones"']);
    const filtered = await cards(page).count();
    expect(filtered).toBeLessThan(PAGE_SIZE);
    await search(page, () => page.getByTitle('Remove this filter').click());
    expect(await cards(page).count()).toBe(PAGE_SIZE);
    await cards(page).first().locator('.picture').click();
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'hidden' });
  });

  it('holds the focus in the details, has them in its history, and shows them for their address', async () => {
    const page = await demo.visit('/?q=headphones');
    const picture = cards(page).first().locator('.picture');
    await picture.click();
    const details = page.getByRole('dialog');
    const title = await details.getByRole('heading').textContent();
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab');
      // Behind the last one the browser itself has it, never what lies behind the dialog.
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

  it('says that it looks at an uploaded picture while it does', async () => {
    const page = await demo.visit();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/analyze*', async (route) => {
      await held;
      await route.continue();
    });
    await page.locator('input[type=file]').setInputFiles(PRODUCT.file);
    const note = page.getByRole('status').filter({ hasText: 'Looking at your picture…' });
    await note.getByRole('progressbar').waitFor();
    expect(await widthOf(note.locator('img'))).toBeGreaterThan(0);
    await search(page, async () => release());
    await page.getByText('Like the uploaded picture').waitFor();
    expect(await note.count()).toBe(0);
  });

  it('gives every search as a command for the shell', async () => {
    const question = `/?like=${PRODUCT.id}&mode=duplicate&q=${encodeURIComponent("price:[1 TO *] OR it's")}&fq=labels:mint`;
    const page = await demo.visit(question);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    const answer = await pasteJson(await clipboard(page));
    const titles = answer.response.docs.map(({ title }: { title: string }) => title);
    expect(titles).toEqual(await names(page));
    expect(titles.length).toBeGreaterThan(1);
    await page.getByRole('button', { name: 'Copy link' }).click();
    expect(await clipboard(page)).toBe(page.url());
  });

  it('predicts labels of what is searched for, which filter', async () => {
    const page = await demo.visit(`/?like=${PRODUCT.id}`);
    const tag = page.getByLabel('Predicted labels').getByRole('button', { name: /^studio headphones/ });
    expect(await tag.textContent()).toMatch(/\d+\s?%/);
    await search(page, () => tag.click());
    expect(address(page).getAll('fq')).toEqual(['labels:"studio headphones"']);
    expect(await tag.isDisabled()).toBe(true);
  });

  it('shows a message of akin when the query is wrong', async () => {
    const { page, complaints } = await demo.open('/?q=price%3A%5B');
    expect(await page.getByRole('alert').textContent()).toMatch(/^The query cannot be read at character \d/);
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
  });
});

it('is small, and shows no picture of elsewhere', async () => {
  const elsewhere = 'http://127.0.0.1:1/picture.jpg';
  const collection = demo.akin.client.collection('elsewhere');
  await collection.create();
  const document = { id: 'a', title: 'of elsewhere', image: elsewhere };
  await collection.add([document], { commit: true, 'modules.apply': 'color' }).catch(() => {});
  const { page } = await demo.open(`/?collection=elsewhere&url=${encodeURIComponent(elsewhere)}`);
  await page.getByText('a picture of 127.0.0.1:1').waitFor();
  await page.getByRole('alert').waitFor();
  // What akin said; anything that the page asked itself is told by the browser, and fails this test.
  const complaints = demo.opened?.complaints.splice(0) ?? [];
  expect(complaints.filter((text) => !/ (422|400)/.test(text))).toEqual([]);
  const html = await (await fetch(`${demo.akin.url}/`)).text();
  const scripts = [...html.matchAll(/src="([^"]+[.]js)"/g)].map(([, src = '']) => new URL(src, demo.akin.url));
  const bytes = await Promise.all(scripts.map(async (one) => Buffer.from(await (await fetch(one)).arrayBuffer())));
  expect(scripts).not.toEqual([]);
  expect(bytes.reduce((sum, one) => sum + gzipSync(one).length, 0)).toBeLessThan(120_000);
});

describe('several collections', () => {
  it('are there to choose from, each with its own documents and filters', async () => {
    const collection = demo.akin.client.collection('notes');
    await collection.create();
    await collection.add([{ id: 'note', title: 'a note without a picture', mood: 'glad' }], { commit: true });
    const page = await demo.visit('/?q=headphones');
    const choice = page.getByRole('combobox', { name: 'Collection' });
    expect(await choice.inputValue()).toBe('my-collection');
    await search(page, () => choice.selectOption('notes'));
    await page.getByText('1 found').waitFor();
    await page.getByRole('link', { name: '1 document', exact: true }).waitFor();
    expect([address(page).get('collection'), address(page).get('q')]).toEqual(['notes', null]);
    // There is nothing to compare it with.
    expect(await cards(page).getByRole('button').allInnerTexts()).toEqual(['no picture']);
    await search(page, () => page.goBack());
    expect(await choice.inputValue()).toBe('my-collection');
    expect(address(page).get('q')).toBe('headphones');
    expect(await cards(page).count()).toBeGreaterThan(1);
  });
});

describe('a collection of one’s own', () => {
  it('is made in the page, filled with a folder, and deleted', async () => {
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
    await page.getByText('Like brio mint').waitFor();
    // What failed is in the hands of the page: it tries the files again.
    await bar.getByRole('button', { name: 'Try again' }).click();
    await until('the files were sent again', async () => {
      const { runs } = await demo.akin.client.collection('holiday').runs();
      return runs.length === 1 && runs[0]?.total === 1 && runs[0].state === 'done' && runs[0].failed === 1;
    });
    await shot(page, 'added');

    await page.getByRole('link', { name: 'Manage' }).click();
    await page.getByRole('button', { name: 'Delete holiday' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the collection').fill('notes');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('That was another name').waitFor();
    await page.getByRole('button', { name: 'Delete holiday' }).click();
    await dialog.getByLabel('Name of the collection').fill('holiday');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: 'holiday' }).waitFor({ state: 'detached' });
    // The browser tells of every answer that is an error: of the broken file, twice, and of the collection that is gone.
    const complaints = demo.opened?.complaints.splice(0) ?? [];
    expect(complaints.filter((text) => !/ 41[45]|404/.test(text))).toEqual([]);
    await remove();
  });

  it('shows what akin is doing', async () => {
    const { page } = await demo.open('/?view=changes');
    const figures = page.getByRole('region', { name: 'This akin' });
    await figures.getByText('Free on disk').waitFor();
    await demo.akin.client.collection('my-collection').select({ q: 'red' });
    await figures.getByText('Time of a search').waitFor();
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
    await search(page, () => details.getByRole('button', { name: 'javascript:alert(5)' }).click());
    expect(await cards(page).count()).toBe(1);
  });

  it('run no script in the HTML answers, which show pictures, palettes and scores', async () => {
    const { page, complaints } = await demo.open('/api/cores/hostile/select?wt=html');
    expect(await page.locator('body').textContent()).toContain(HOSTILE);
    // These documents have no picture, which the writer of the answer cannot know.
    await page.waitForLoadState('networkidle');
    expect(complaints.splice(0).filter((text) => !text.includes('404'))).toEqual([]);
    await page.goto(`${demo.akin.url}/api/cores/my-collection/image?rank.by.id=${PRODUCT.id}&wt=html`);
    const picture = page.locator('img').first();
    await picture.scrollIntoViewIfNeeded();
    expect(await widthOf(picture)).toBeGreaterThan(0);
    expect(await page.locator('svg rect').count()).toBeGreaterThan(0);
    await page.goto(`${demo.akin.url}/docs`);
    expect(await page.locator('body').textContent()).toContain('/openapi.json');
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
