import { createHash } from 'node:crypto';
import { appendFile, copyFile, link, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Collection, FoundDocument } from '@akin/client';
import { freePort } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import {
  akinDatabase,
  type OwnAkin,
  runAkin,
  runInTurn,
  serveAkin,
  serveOnPostgres,
  temporaryFolder,
  until,
} from './akin.ts';
import { copyOf, photo, picture, UNLIKE } from './pictures.ts';

const ODD_NAME = 'ünï cödé 图片 🙂.jpg';
const QUOTED_NAME = `it's "quoted" & 50% #1?.jpg`;
/** So deep that the path is longer than an id may be. */
const DEEP = `${`${'d'.repeat(100)}/`.repeat(6)}a.jpg`;

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let data: string;
let pictures: string;
/** A port at which no akin answers. */
let nobody: string;

async function put(name: string, bytes: Buffer | string): Promise<void> {
  const file = path.join(pictures, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, bytes);
}

beforeAll(async () => {
  place = await temporaryFolder();
  nobody = String(await freePort());
  data = path.join(place.folder, 'data');
  pictures = path.join(place.folder, 'pictures');
  const [one, two, three, four] = await Promise.all(UNLIKE.map((seed) => picture(seed)));
  if (!one || !two || !three || !four) throw new Error('four drawings');
  await put('one.jpg', one);
  await put('holiday/berlin/photo.jpg', await photo(two));
  await put(`holiday/${ODD_NAME}`, three);
  await put(QUOTED_NAME, four);
  await put('one-smaller.jpg', await copyOf(one));
  await put('no-ending', await sharp(four).resize(640).png().toBuffer());
  await put('phone/IMG_1.HEIC', Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic0000mif1heic')]));
  await put('broken.jpg', one.subarray(0, 200));
  await put('empty.png', '');
  await put('text.jpg', 'This is no picture.');
  await put('notes.txt', 'Not a picture, and not named as one.');
  await put(DEEP, await picture(9));
  await symlink('.', path.join(pictures, 'circle'));
  await symlink('nowhere.jpg', path.join(pictures, 'broken-link.jpg'));
});
afterAll(() => place?.remove());

const FAILED = 5;
const GOOD = [
  'one.jpg',
  'holiday/berlin/photo.jpg',
  `holiday/${ODD_NAME}`,
  QUOTED_NAME,
  'one-smaller.jpg',
  'no-ending',
  `${DEEP.slice(0, 495)}~${createHash('sha256').update(DEEP).digest('hex').slice(0, 16)}`,
];

async function documents(collection: Collection): Promise<Map<string, FoundDocument>> {
  const found = new Map<string, FoundDocument>();
  for await (const document of collection.all()) found.set(document.id, document);
  return found;
}

describe('indexing a folder into the embedded store', () => {
  it('indexes pictures, reports other files, and ends with 2', async () => {
    const { code, out, err } = await runAkin(['index', pictures, '--data', data, '--port', nobody]);
    expect(out).toContain(`${GOOD.length} indexed, 0 unchanged, 0 removed, ${FAILED} failed.`);
    expect(out).toContain('2 near-duplicates');
    expect(err).toContain('12/12 pictures');
    expect(out).toMatch(/phone\/IMG_1\.HEIC: .*HEIC.*cannot be decoded/);
    expect(out).toMatch(/text\.jpg: \S/);
    expect(out).toMatch(/empty\.png: \S/);
    expect(out).toMatch(/broken\.jpg: \S/);
    expect(out).toContain('broken-link.jpg: it does not exist');
    expect(out).not.toContain('notes.txt');
    expect(code).toBe(2);
  });
});

describe('what was indexed', () => {
  let akin: OwnAkin;
  let collection: Collection;
  beforeAll(async () => {
    akin = await serveOnPostgres();
    collection = akin.client.collection('my-collection');
    await index();
  });
  afterAll(() => akin?.end());
  const index = (...args: string[]) => runInTurn(['index', pictures, '--url', akin.url, ...args]);

  it('has the path below the folder as id, facts of the file as fields, and a thumbnail, and is found by similarity', async () => {
    const found = await documents(collection);
    expect([...found.keys()].sort()).toEqual([...GOOD].sort());
    expect(found.get('one.jpg')).toMatchObject({ title: 'one', folder: '/', width: 320, height: 240 });
    expect(found.get(`holiday/${ODD_NAME}`)).toMatchObject({ title: 'ünï cödé 图片 🙂', folder: 'holiday' });
    // Upright, with what its EXIF says.
    expect(found.get('holiday/berlin/photo.jpg')).toMatchObject({
      ...{ folder: 'holiday/berlin', width: 240, height: 320, camera: 'Akinon A-1', location: '52.5,13.4' },
      ...{ taken: '2023-06-15T14:30:00Z', taken_utc: '2023-06-15T12:30:00Z' },
    });
    const named = (await collection.select({ q: 'photo', fl: 'id' })).response.docs;
    expect(named).toEqual([{ id: 'holiday/berlin/photo.jpg' }]);
    const { response } = await collection.duplicate({ 'rank.by.id': 'one.jpg' });
    expect(response.docs.map(({ id }) => id)).toEqual(['one.jpg', 'one-smaller.jpg']);
    // The data folder of the akin at this URL is on this machine.
    expect((await fetch(collection.originalAddress('one.jpg'))).status).toBe(200);
    for (const id of GOOD) {
      const response = await fetch(collection.thumbnailAddress(id));
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/webp']);
      const { width, height } = await sharp(await response.arrayBuffer()).metadata();
      expect(Math.max(width, height)).toBe(id === 'one-smaller.jpg' ? 200 : 256);
    }
  });

  it('is analyzed again only when a file has changed', async () => {
    await collection.add(
      [{ id: 'one-smaller.jpg', labels: { add: ['mine'] }, note: { set: 'at the lake' } } as never],
      {
        commit: true,
      },
    );
    const file = path.join(pictures, 'one-smaller.jpg');
    await writeFile(
      file,
      await sharp(await picture(UNLIKE[0], 200, 150))
        .modulate({ brightness: 1.1 })
        .toBuffer(),
    );
    await utimes(file, 1_600_000_000, 1_600_000_000);
    const { code, out } = await index();
    expect(out).toContain(`1 indexed, ${GOOD.length - 1} unchanged, 0 removed, ${FAILED} failed.`);
    expect(code).toBe(2);
    expect((await documents(collection)).get('one-smaller.jpg')).toMatchObject({
      height: 150,
      modified: '2020-09-13T12:26:40Z',
      // What people added to it stays.
      labels: ['mine'],
      note: 'at the lake',
    });
  });

  it('gets the names of its folders as labels when asked to', async () => {
    const { out } = await index('--labels-from-folders');
    expect(out).toContain('3 indexed, 4 unchanged');
    expect((await documents(collection)).get('holiday/berlin/photo.jpg')?.labels).toEqual(['holiday', 'berlin']);
  });

  it('is removed if its file is gone and --prune is given; nothing else is', async () => {
    await collection.add([{ id: 'of another kind' }], { commit: true });
    await rm(path.join(pictures, 'holiday/berlin'), { recursive: true });
    await rm(path.join(pictures, 'one.jpg'));
    const { out } = await index('--labels-from-folders');
    expect(out).toContain('0 indexed, 5 unchanged, 0 removed');
    expect(out).toContain('2 pictures are marked as missing');
    const missing = (await collection.select({ q: 'missing:true', sort: 'id asc', fl: 'id' })).response.docs;
    expect(missing).toEqual([{ id: 'holiday/berlin/photo.jpg' }, { id: 'one.jpg' }]);
    // A glob that matches no files: existing documents stay.
    const glob = await runInTurn(['index', path.join(pictures, '*.png'), '--prune', '--url', akin.url]);
    expect(glob.out).toContain('2 removed');
    const left = GOOD.filter((id) => !['one.jpg', 'holiday/berlin/photo.jpg'].includes(id));
    expect([...(await documents(collection)).keys()].sort()).toEqual([...left, 'of another kind'].sort());
  });

  it('is not removed if the name of its file is decomposed, as macOS writes it, and comes back when its file does', async () => {
    const file = path.join(pictures, 'cafe\u0301.jpg');
    const put = async () => {
      await writeFile(file, await picture(7));
      await utimes(file, 1_600_000_000, 1_600_000_000);
    };
    await put();
    expect((await index()).out).toContain('1 indexed');
    const prune = () => runInTurn(['index', path.join(pictures, '*.png'), '--prune', '--url', akin.url]);
    expect((await prune()).out).toContain('0 removed');
    await rm(file);
    expect((await prune()).out).toContain('1 removed');
    await put();
    expect((await index()).out).toMatch(/^(?!.*skipped).*1 indexed/s);
    await rm(file);
    await prune();
  });

  it('stays deleted if it was deleted on purpose, until its file changes or --restore-deleted is given', async () => {
    await collection.deleteByIds(['no-ending']);
    await collection.deleteByQuery(`id:${JSON.stringify(QUOTED_NAME)}`, { commit: true });
    const { out, err } = await index();
    expect(out).toContain('0 indexed, 3 unchanged, 0 removed');
    expect(out).toContain('2 skipped, because their documents were deleted. --restore-deleted brings them back.');
    expect(err).toContain('2 skipped');
    await utimes(path.join(pictures, 'no-ending'), 1_700_000_000, 1_700_000_000);
    expect((await index()).out).toContain('2 skipped');
    // What editors keep of it stays deleted.
    await copyFile(path.join(pictures, 'no-ending'), path.join(pictures, 'no-ending_original'));
    await appendFile(path.join(pictures, 'no-ending'), 'changed');
    const changed = await index();
    expect(changed.out).toContain('1 indexed, 3 unchanged');
    expect(changed.out).toContain('2 skipped');
    expect((await documents(collection)).has('no-ending')).toBe(true);
    expect((await index()).out).toContain('2 skipped');
    await rm(path.join(pictures, 'no-ending_original'));
    expect((await index('--restore-deleted')).out).toContain('1 indexed, 4 unchanged');
  });

  it('has the name of its folder in front of its id if a file of another folder has the same path, and keeps it', async () => {
    const folders = ['first', 'second', 'moved'].map((name) => path.join(place.folder, name));
    const [first = '', second = '', moved = ''] = folders;
    for (const [folder, seed] of [
      [first, UNLIKE[0]],
      [second, UNLIKE[1]],
    ] as const) {
      await mkdir(folder);
      await writeFile(path.join(folder, '1.jpg'), await picture(seed));
    }
    const linked = path.join(place.folder, 'linked');
    await symlink(first, linked);
    const indexInto = (...args: string[]) =>
      runInTurn(['index', ...args, '--url', akin.url, '--collection', 'folders']);
    expect((await indexInto(first)).out).toContain('1 indexed');
    expect((await indexInto(second)).out).toContain('1 indexed, 0 unchanged');
    expect((await indexInto(linked)).out).toContain('1 unchanged, 0 removed, 0 failed');
    const collection = akin.client.collection('folders');
    await collection.add([{ id: '1.jpg', labels: { add: ['mine'] } } as never], { commit: true });
    const before = (await documents(collection)).get('1.jpg');
    expect(before).toMatchObject({ source: first, labels: ['mine'] });

    await rename(first, moved);
    expect((await indexInto(moved)).out).toContain('1 found at another place');
    const after = await documents(collection);
    expect([...after.keys()]).toEqual(['1.jpg', 'second/1.jpg']);
    expect(after.get('1.jpg')).toEqual({ ...before, source: moved });
    const { response } = await collection.duplicate({ 'rank.by.id': '1.jpg' });
    expect(response.docs).toHaveLength(1);
    await rm(path.join(moved, '1.jpg'));
    const refused = await indexInto(moved, '--prune');
    expect([refused.code, refused.out]).toEqual([2, expect.stringContaining('Is its drive connected?')]);
    expect((await indexInto(moved, '--prune-all')).out).toContain('1 removed');
  });

  it('follows its drive when another one with the same names is at its place, or nothing', async () => {
    const drives = path.join(place.folder, 'drives');
    const [card, other] = ['card', 'other'].map((name) => path.join(place.folder, name)) as [string, string];
    const mounted = path.join(drives, 'DCIM');
    for (const [folder, seeds] of [
      [card, [1, 3]],
      [other, [8, 11, 14]],
    ] as const) {
      await mkdir(folder);
      for (const [i, seed] of seeds.entries()) await writeFile(path.join(folder, `${i}.jpg`), await picture(seed));
    }
    await mkdir(drives);
    for (let i = 0; i < 5; i++) await writeFile(path.join(drives, `${i}.png`), await picture(20 + i));
    const indexDrives = () => runInTurn(['index', drives, '--prune', '--url', akin.url, '--collection', 'drives']);
    const collection = akin.client.collection('drives');
    const onCard = async (missing: boolean) => {
      const found = [...(await documents(collection)).values()].filter(({ path: below }) =>
        /^DCIM/.test(String(below)),
      );
      return found.filter((one) => (one.missing === true) === missing).map(({ labels }) => labels ?? 'none');
    };
    const swap = async (from: string | undefined, to: string | undefined) => {
      if (from) await rename(mounted, from);
      else await rm(mounted, { recursive: true, force: true });
      if (to) await rename(to, mounted);
      else await mkdir(mounted);
      return indexDrives();
    };
    expect((await swap(undefined, card)).out).toContain('7 indexed');
    const ids = [0, 1].map((i) => `DCIM/${i}.jpg`);
    await collection.add(ids.map((id) => ({ id, labels: { add: ['mine'] } })) as never, { commit: true });
    const mine = ids.map(() => ['mine']);

    const empty = await swap(card, undefined);
    expect([empty.code, empty.out]).toEqual([2, expect.stringContaining('DCIM: none of its files is there')]);
    expect(await onCard(true)).toEqual(mine);
    const swapped = await swap(undefined, other);
    expect([swapped.code, swapped.out]).toEqual([2, expect.stringContaining('3 indexed')]);
    expect([await onCard(true), await onCard(false)]).toEqual([mine, Array(3).fill('none')]);
    expect((await swap(other, card)).out).toContain('0 indexed');
    expect([await onCard(false), await onCard(true)]).toEqual([mine, Array(3).fill('none')]);
    const direct = await swap(card, other);
    expect(direct.out).toContain('0 indexed');
    expect([await onCard(true), await onCard(false)]).toEqual([mine, Array(3).fill('none')]);
  });

  it('notices a sidecar that changes, and keeps what people said', async () => {
    const folder = path.join(place.folder, 'described');
    await mkdir(folder);
    await writeFile(path.join(folder, '1.jpg'), await picture(1));
    const describe = (caption: string, keyword: string) =>
      writeFile(
        path.join(folder, '1.xmp'),
        `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">Of the file</rdf:li></rdf:Alt></dc:title><dc:description><rdf:Alt><rdf:li xml:lang="x-default">${caption}</rdf:li></rdf:Alt></dc:description><dc:subject><rdf:Bag><rdf:li>${keyword}</rdf:li><rdf:li>kept</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>`,
      );
    const indexDescribed = () => runInTurn(['index', folder, '--url', akin.url, '--collection', 'described']);
    const collection = akin.client.collection('described');
    const said = async () => {
      const found = (await documents(collection)).get('1.jpg');
      return { title: found?.title, caption: found?.caption, labels: found?.labels };
    };
    await indexDescribed();
    await describe('first', 'sea');
    expect((await indexDescribed()).out).toContain('1 indexed');
    expect(await said()).toEqual({ title: 'Of the file', caption: 'first', labels: ['sea', 'kept'] });
    const change = { id: '1.jpg', title: { set: 'Mine' }, labels: { remove: ['kept'], add: ['own'] } };
    await collection.add([change as never], { commit: true });
    await describe('second time', 'boat');
    expect((await indexDescribed()).out).toContain('1 indexed');
    expect(await said()).toEqual({ title: 'Mine', caption: 'second time', labels: ['own', 'boat'] });
    expect((await indexDescribed()).out).toContain('0 indexed, 1 unchanged');
  });

  it('becomes one with another one that is now a link to its file, with labels and decisions', async () => {
    const folder = path.join(place.folder, 'linked copies');
    await mkdir(folder);
    for (const name of ['a', 'b', 'c'])
      await writeFile(path.join(folder, `${name}.jpg`), await picture(name === 'c' ? 3 : 1));
    const indexLinked = () => runInTurn(['index', folder, '--url', akin.url, '--collection', 'linked']);
    expect((await indexLinked()).out).toContain('3 indexed');
    const collection = akin.client.collection('linked');
    await collection.add([{ id: 'b.jpg', labels: { add: ['mine'] }, note: { set: 'x' } } as never], { commit: true });
    await collection.decideGroups(['b.jpg', 'c.jpg'], 'different');
    await rm(path.join(folder, 'b.jpg'));
    await link(path.join(folder, 'a.jpg'), path.join(folder, 'b.jpg'));
    await indexLinked();
    const found = await documents(collection);
    expect([...found.keys()]).toEqual(['a.jpg', 'c.jpg']);
    expect(found.get('a.jpg')).toMatchObject({ labels: ['mine'], note: 'x', path: 'a.jpg' });
    const decisions: unknown[] = [];
    for await (const ids of collection.allGroupDecisions()) decisions.push(ids);
    expect(decisions).toEqual([['a.jpg', 'c.jpg']]);
  });

  it('may be named by standard input and globs, and be in a new collection', async () => {
    const given = ['index', '-', path.join(pictures, 'holiday/**/*.jpg'), '--collection', 'new', '--url', akin.url];
    const input = `one-smaller.jpg\n${path.join(pictures, QUOTED_NAME)}\n`;
    const { code, out } = await runAkin(given, { cwd: pictures, input });
    expect([code, out]).toEqual([0, expect.stringContaining('3 indexed, 0 unchanged')]);
    expect((await akin.client.collection('new').status()).documents).toBe(3);
  });
});

describe('a run that is stopped', () => {
  const COUNT = 24;

  it('keeps what is done, answers meanwhile, and continues there, also in a new collection', async () => {
    const many = path.join(place.folder, 'many');
    await mkdir(many);
    const bytes = await picture(2, 640, 480);
    // The same picture with different comments: analysis takes long, drawing does not.
    for (let i = 0; i < COUNT; i++) {
      await writeFile(path.join(many, `${i}.jpg`), Buffer.concat([bytes, Buffer.from(`${i}`)]));
    }
    const database = await akinDatabase();
    const where = ['--data', path.join(place.folder, 'data of many'), '--database-url', database.url];
    // Several threads: pictures are being analyzed when it is stopped.
    const first = await serveAkin([many, ...where, '--collection', 'new'], { AKIN_THREADS: '2' });
    const collection = first.client.collection('new');
    await until('the first documents are seen', async () => {
      // Stopped early on purpose: most pictures must still be waiting.
      await collection.commit();
      return (await collection.status()).documents > 0;
    });
    expect((await fetch(`${first.url}/`)).status).toBe(200);
    const { code, out } = await first.command.stop('SIGINT');
    expect([code, out]).toEqual([0, expect.stringMatching(/Stopped\. Run the same command again to continue/)]);
    const [, indexed = ''] = out.match(/(\d+) indexed, /) ?? [];
    expect(Number(indexed)).toBeGreaterThan(0);
    expect(Number(indexed)).toBeLessThan(COUNT);

    const ended = await runAkin(['index', many, ...where, '--collection', 'new', '--port', nobody]);
    expect(ended.err).toContain('the page is at http');
    expect(ended.out).toContain(`${COUNT - Number(indexed)} indexed, ${indexed} unchanged, 0 removed, 0 failed.`);
    expect(ended.code).toBe(0);
    await database.drop();
  });
});
