import { createHash } from 'node:crypto';
import { appendFile, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Collection } from '@akin/client';
import type { EndedCommand } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { documentsOf, type OwnAkin, runInTurn, serveOnPostgres, temporaryFolder } from './akin.ts';
import { copyOf, photo, picture, UNLIKE } from './pictures.ts';

const ODD_NAME = 'ünï cödé 图片 🙂.jpg';
const QUOTED_NAME = `it's "quoted" & 50% #1?.jpg`;
/** So deep that the path is longer than an id may be. */
const DEEP = `${`${'d'.repeat(100)}/`.repeat(6)}a.jpg`;

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let pictures: string;

async function put(name: string, bytes: Buffer | string): Promise<void> {
  const file = path.join(pictures, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, bytes);
}

beforeAll(async () => {
  place = await temporaryFolder();
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

describe('what was indexed', () => {
  let akin: OwnAkin;
  let collection: Collection;
  let first: EndedCommand;
  beforeAll(async () => {
    akin = await serveOnPostgres();
    collection = akin.client.collection('my-collection');
    first = await index();
  });
  afterAll(() => akin?.end());
  const index = (...args: string[]) => runInTurn(['index', pictures, '--url', akin.url, ...args]);

  it('is reported with the files that are no pictures, and ends with 2', () => {
    const { code, out, err } = first;
    expect(out).toContain(`${GOOD.length} indexed, 0 unchanged, 0 removed, ${FAILED} failed.`);
    expect(err).toContain('12/12 pictures');
    expect(out).toMatch(/phone\/IMG_1\.HEIC: .*HEIC.*cannot be decoded/);
    expect(out).toMatch(/text\.jpg: \S/);
    expect(out).toMatch(/empty\.png: \S/);
    expect(out).toMatch(/broken\.jpg: \S/);
    expect(out).toContain('broken-link.jpg: it does not exist');
    expect(out).not.toContain('notes.txt');
    expect(code).toBe(2);
  });

  it('has the path below the folder as id, facts of the file as fields, and a thumbnail, and is found by similarity', async () => {
    const found = await documentsOf(collection);
    expect([...found.keys()].sort()).toEqual([...GOOD].sort());
    expect(found.get('one.jpg')).toMatchObject({ title: 'one', folder: '/', width: 320, height: 240 });
    expect(found.get(`holiday/${ODD_NAME}`)).toMatchObject({ title: 'ünï cödé 图片 🙂', folder: 'holiday' });
    // Upright, with what its EXIF says.
    expect(found.get('holiday/berlin/photo.jpg')).toMatchObject({
      folder: 'holiday/berlin',
      width: 240,
      height: 320,
      camera: 'Akinon A-1',
      location: '52.5,13.4',
      taken: '2023-06-15T14:30:00Z',
      taken_utc: '2023-06-15T12:30:00Z',
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
    // Each failure is reported by the latest run alone.
    expect((await collection.runs()).runs.map(({ done, failed }) => [done, failed])).toEqual([[1, FAILED]]);
    expect((await documentsOf(collection)).get('one-smaller.jpg')).toMatchObject({
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
    expect((await documentsOf(collection)).get('holiday/berlin/photo.jpg')?.labels).toEqual(['holiday', 'berlin']);
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
    expect([...(await documentsOf(collection)).keys()].sort()).toEqual([...left, 'of another kind'].sort());
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
    await appendFile(path.join(pictures, 'no-ending'), 'changed');
    const changed = await index();
    expect(changed.out).toContain('1 indexed, 3 unchanged');
    expect(changed.out).toContain('1 skipped');
    expect((await documentsOf(collection)).has('no-ending')).toBe(true);
    expect((await index('--restore-deleted')).out).toContain('1 indexed, 4 unchanged');
  });
});
