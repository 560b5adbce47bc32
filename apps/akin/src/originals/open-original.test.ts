import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Analyzer, createAnalyzer } from '@akin/modules/analyze';
import { drawImage } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { hashOfBytes } from '../folder/file-hash.ts';
import { forgetFolders, indexedFolders, rememberFolders } from './indexed-folders.ts';
import { originalsOf } from './open-original.ts';

let place: string;
let data: string;
let shown: string;
let hidden: string;
let analyzer: Analyzer;
const at = (...parts: string[]) => path.join(place, ...parts);
/** As a document of what the file contains at present; of another one, as of nothing. */
async function open(source: string, below: string, collection = 'mine') {
  const bytes = await fs.readFile(path.join(source, below)).catch(() => Buffer.alloc(0));
  const document = { collection, source, path: below, bytes: bytes.length, hash: hashOfBytes(bytes) };
  return originalsOf(data, analyzer).open(document);
}

beforeAll(async () => {
  place = await fs.realpath(await fs.mkdtemp(path.join(tmpdir(), 'akin-originals-')));
  // Limits for what clients send.
  analyzer = await createAnalyzer({ threads: 1, limits: { bytes: 100, pixels: 100 } });
  [data, shown, hidden] = [at('data'), at('shown'), at('hidden')];
  for (const folder of [data, hidden, at('theirs'), at('shown', 'deep'), at('shown', '.cache')])
    await fs.mkdir(folder, { recursive: true });
  const picture = await drawImage({ width: 3_000, height: 60, seed: 1 });
  for (const file of [
    at('secret.jpg'),
    at('hidden', 'secret.jpg'),
    at('shown', '.cache', 'a.jpg'),
    at('theirs', 'b.jpg'),
  ]) {
    await fs.writeFile(file, picture);
  }
  await fs.writeFile(at('shown', 'deep', 'ü 1.jpg'), picture);
  await fs.writeFile(at('shown', 'e\u0301.jpg'), picture);
  await fs.writeFile(at('shown', 'a.tif'), await sharp(picture).tiff().toBuffer());
  await fs.writeFile(at('shown', 'words.jpg'), 'words');
  await fs.symlink(at('secret.jpg'), at('shown', 'link.jpg'));
  await fs.symlink(hidden, at('shown', 'linked'));
  await fs.symlink('deep', at('shown', 'within'));
  await fs.symlink(path.join('.cache', 'a.jpg'), at('shown', 'to-hidden.jpg'));
  await fs.symlink('.cache', at('shown', 'to-hidden'));
  await fs.symlink(at('theirs', 'b.jpg'), at('shown', 'theirs.jpg'));
  await rememberFolders(data, 'mine', [shown, at('secret.jpg'), at('nowhere'), '-']);
  await rememberFolders(data, 'theirs', [at('theirs')]);
});
afterAll(async () => {
  await analyzer?.[Symbol.asyncDispose]();
  await fs.rm(place, { recursive: true, force: true });
});

describe('originals', () => {
  it('are the files of indexed folders, also as ranges', async () => {
    const file = await open(shown, 'deep/ü 1.jpg');
    const bytes = await fs.readFile(at('shown', 'deep', 'ü 1.jpg'));
    expect(file).toMatchObject({ size: bytes.length, type: 'image/jpeg' });
    const chunks: Uint8Array[] = [];
    for await (const chunk of file?.read(10, 19) ?? []) chunks.push(chunk);
    expect(Buffer.concat(chunks)).toEqual(bytes.subarray(10, 20));
    expect(await open(shown, 'within/ü 1.jpg')).toMatchObject({ size: bytes.length });
    expect(await open(shown, 'e\u0301.jpg')).toMatchObject({ size: bytes.length });
  });

  it.each([
    ['a parent', () => [shown, '../secret.jpg']],
    ['an absolute path', () => [shown, at('secret.jpg')]],
    ['a link to a file outside', () => [shown, 'link.jpg']],
    ['a link to a folder outside', () => [shown, 'linked/secret.jpg']],
    ['a folder that was not indexed', () => [hidden, 'secret.jpg']],
    ['a folder above', () => [place, 'secret.jpg']],
    ['a hidden file', () => [shown, '.cache/a.jpg']],
    ['what a visible link to a hidden file shows', () => [shown, 'to-hidden.jpg']],
    ['below a visible link to a hidden folder', () => [shown, 'to-hidden/a.jpg']],
    ['of the folder of another collection', () => [at('theirs'), 'b.jpg']],
    ['a link into the folder of another collection', () => [shown, 'theirs.jpg']],
    ['a folder', () => [shown, 'deep']],
    ['the folder itself', () => [shown, '']],
    ['nothing there', () => [shown, 'gone.jpg']],
    ['a name with NUL', () => [shown, 'a\0.jpg']],
  ] as const)('are not %s', async (_, named) => {
    const [source, id] = named() as [string, string];
    expect(await open(source, id)).toBeUndefined();
  });

  it('end with their collection, and those of others stay', async () => {
    expect(await open(at('theirs'), 'b.jpg', 'theirs')).toBeDefined();
    await forgetFolders(data, 'theirs');
    expect(await open(at('theirs'), 'b.jpg', 'theirs')).toBeUndefined();
    expect(await open(shown, 'a.tif')).toBeDefined();
  });

  it('are remembered by commands that run at the same time', async () => {
    const folders = Array.from({ length: 20 }, (_, i) => at('many', String(i)));
    for (const folder of folders) await fs.mkdir(folder, { recursive: true });
    await Promise.all(folders.map((folder, i) => rememberFolders(data, `c${i % 2}`, [folder])));
    const known = await Promise.all([indexedFolders(data, 'c0'), indexedFolders(data, 'c1')]);
    expect(known.flat().sort()).toEqual([...folders].sort());
  });

  it('are what was indexed: who only names a file does not get it, nor does the document of a former one', async () => {
    const bytes = await fs.readFile(at('shown', 'a.tif'));
    const document = {
      collection: 'mine',
      source: shown,
      path: 'a.tif',
      bytes: bytes.length,
      hash: hashOfBytes(bytes),
    };
    const originals = originalsOf(data, analyzer);
    expect(await originals.open(document)).toBeDefined();
    for (const wrong of [{ hash: document.hash + 1 }, { bytes: document.bytes + 1 }]) {
      await expect(originals.open({ ...document, ...wrong })).rejects.toMatchObject({ code: 'not-found' });
    }
  });

  it('are pictures', async () => {
    await expect(open(shown, 'words.jpg')).rejects.toMatchObject({ code: 'unsupported-image' });
  });

  it('are analyzed as large as they are, also in part', async () => {
    const file = await open(shown, 'deep/ü 1.jpg');
    const region = { x: 0, y: 0, width: 0.1, height: 1 };
    const [whole, part] = await Promise.all([
      file?.analyze(['color'], { urgent: false }),
      file?.analyze(['color'], { urgent: true, region }),
    ]);
    expect(whole?.outputs).toContain('color');
    expect(part?.outputs).not.toBe(whole?.outputs);
    await fs.writeFile(at('shown', 'b.jpg'), await fs.readFile(at('shown', 'deep', 'ü 1.jpg')));
    const removed = await open(shown, 'b.jpg');
    await fs.rm(at('shown', 'b.jpg'));
    await expect(removed?.analyze(['color'], { urgent: true })).rejects.toMatchObject({ code: 'image-unreachable' });
  });

  it('are converted for browsers that do not show their type', async () => {
    const file = await open(shown, 'a.tif');
    expect(file?.type).toBe('image/tiff');
    const webp = await file?.webp(AbortSignal.timeout(60_000));
    expect(await sharp(webp).metadata()).toMatchObject({ format: 'webp', width: 2_560 });
  });
});
