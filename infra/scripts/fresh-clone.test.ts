import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

it('lets every script that prepares a clone start before anything is installed', () => {
  const folder = new URL('.', import.meta.url);
  const needed = readdirSync(folder)
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))
    .filter(({ name, text }) => name === 'prepare.mjs' || text.includes("from './prepare.mjs'"))
    .flatMap(({ name, text }) => [...text.matchAll(/^import .*'(.+)';$/gm)].map(([, from]) => `${name}: ${from}`));
  expect(needed).toContain('pack.mjs: ./prepare.mjs');
  expect(needed.filter((each) => !/: (node:|\.)/.test(each))).toEqual([]);
});
