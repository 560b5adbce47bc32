import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from './akin.ts';
import { PRODUCT, useDemoPage } from './demo-page.ts';
import { run } from './shell.ts';

const demo = useDemoPage();
let home: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  home = await temporaryFolder();
  await copyFile(PRODUCT.file, path.join(home.folder, 'photo.jpg'));
});
afterAll(() => home?.remove());

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
