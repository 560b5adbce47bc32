import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drawImage } from '@akin/testing';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { EDITS } from '../eval/edits.ts';
import { extractFeatures, extractFeaturesOfEdits } from './extract-features.ts';

let folder: string;
let pictures: string[];
let files: string[];

/** Like common data sets: a text file next to each picture. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'akin-see-'));
  const place = (name: string) => join(folder, name);
  const names = ['1', '2', '3', '4', '5', '6', '7'];
  pictures = names.map((name) => place(`${name}.png`));
  files = names.flatMap((name) => [place(`${name}.caption`), place(`${name}.png`)]);
  for (const [seed, name] of names.entries()) {
    await writeFile(place(`${name}.caption`), 'a picture');
    await writeFile(place(`${name}.png`), await drawImage({ width: 60, height: 40, seed, type: 'png' }));
  }
  jest.spyOn(console, 'warn').mockImplementation(() => {});
});
afterAll(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true });
});

it('sees the pictures among other files', async () => {
  const seen = await extractFeatures(files, 'wasm', async ({ pixels }) => `${pixels.width}x${pixels.height}`);
  expect([...seen]).toEqual(pictures.map((file) => [file, '60x40']));
  expect(jest.mocked(console.warn).mock.calls.length).toBe(7);
});

it('reports the number of files after each hundred', async () => {
  const log = jest.spyOn(console, 'log').mockImplementation(() => {});
  const missing = Array.from({ length: 250 }, (_, i) => join(folder, `missing ${i}.png`));
  await extractFeatures(missing, 'wasm', async () => true);
  expect(log.mock.calls).toEqual([['100 of 250 pictures'], ['200 of 250 pictures']]);
});

it('edits the requested number of readable pictures, always in the same way', async () => {
  const read = await extractFeatures(files, 'wasm', async () => true);
  const { patterns, changes } = await extractFeaturesOfEdits([...read.keys()], 4, 'wasm');
  expect([patterns.length, changes.length]).toEqual([4 * (1 + EDITS.length), 4 * EDITS.length]);
  const { patterns: first } = await extractFeaturesOfEdits(pictures.slice(0, 1), 1, 'wasm');
  expect(patterns.slice(0, first.length)).toEqual(first);
  const [original, edited, change] = [patterns[0], patterns[3], changes[2]];
  expect(change).toEqual(edited?.map((value, k) => value - (original?.[k] as number)));
});

it('edits nothing if no picture can be read', async () => {
  expect(await extractFeaturesOfEdits(files.slice(0, 1), 4, 'wasm')).toEqual({ patterns: [], changes: [] });
});
