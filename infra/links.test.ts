import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Addresses of the headings of a page, as GitHub and VitePress make them. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const name = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    let anchor = name;
    for (let number = 1; anchors.has(anchor); number += 1) anchor = `${name}-${number}`;
    anchors.add(anchor);
  }
  return anchors;
}

const withoutCode = (page: string) => page.replace(/^( *)```.*?^\1```$/gms, '');

/** Targets of the links and pictures of a page that lead to files of the repository. */
function linksOf(page: string): string[] {
  const text = withoutCode(page).replace(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** What is wrong with the links of a page. */
function brokenLinks(file: string, pages: ReadonlyMap<string, string>): string[] {
  return linksOf(pages.get(file) ?? '').flatMap((target) => {
    const [name = '', anchor] = target.split('#');
    const to = name === '' ? file : path.join(path.dirname(file), decodeURI(name));
    if (!existsSync(path.join(ROOT, to))) return [`${file}: ${target}: no such file`];
    const page = pages.get(to);
    if (anchor === undefined || page === undefined) return [];
    return anchorsOf(page).has(anchor) ? [] : [`${file}: ${target}: no such heading`];
  });
}

describe('the pages of the documentation', () => {
  const read = async () => {
    const inside = async (folder: string) =>
      (await readdir(path.join(ROOT, folder))).map((name) => path.join(folder, name));
    const packages = (await Promise.all(['apps', 'packages'].map(inside))).flat();
    const folders = ['.', 'docs', 'docs/adr', 'examples', ...packages];
    const files = (await Promise.all(folders.map(inside))).flat().filter((file) => file.endsWith('.md'));
    return new Map(
      await Promise.all(files.map(async (file) => [file, await readFile(path.join(ROOT, file), 'utf8')] as const)),
    );
  };

  it('link to files and headings that are there', async () => {
    const pages = await read();
    expect(pages.size).toBeGreaterThan(40);
    const changelogs = (file: string) => file.endsWith('CHANGELOG.md');
    expect([...pages.keys()].filter((file) => !changelogs(file)).flatMap((file) => brokenLinks(file, pages))).toEqual(
      [],
    );
    const wrong = new Map([['docs/search.md', '# A\n[a](#a) [b](#b) [c](none.md) [d](keys.md)']]);
    expect(brokenLinks('docs/search.md', wrong)).toEqual([
      'docs/search.md: #b: no such heading',
      'docs/search.md: none.md: no such file',
    ]);
  });

  it('can all be reached from the table of readers', async () => {
    const pages = await read();
    const found = new Set(['docs/README.md']);
    for (const file of found) {
      for (const target of linksOf(pages.get(file) ?? '')) {
        const to = path.join(path.dirname(file), target.replace(/#.*$/, ''));
        if (pages.has(to)) found.add(to);
      }
    }
    expect([...pages.keys()].filter((file) => file.startsWith('docs/') && !found.has(file))).toEqual([]);
  });

  it('hold decisions of at most 400 words, each in the index', async () => {
    const pages = await read();
    const index = linksOf(pages.get('docs/adr/README.md') ?? '');
    const decisions = [...pages].filter(([file]) => /^docs\/adr\/\d/.test(file));
    expect(decisions.length).toBeGreaterThan(30);
    const tooLong = decisions.filter(([, text]) => text.split(/\s+/).filter(Boolean).length > 400);
    const unlisted = decisions.filter(([file]) => !index.includes(path.basename(file)));
    expect([...tooLong, ...unlisted].map(([file]) => file)).toEqual([]);
  });
});
