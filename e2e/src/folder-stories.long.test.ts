import { link, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  akinDatabase,
  documentsOf,
  type OwnAkin,
  runAkin,
  runInTurn,
  serveAkin,
  serveOnPostgres,
  temporaryFolder,
  until,
} from './akin.ts';
import { picture, UNLIKE } from './pictures.ts';

let place: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  place = await temporaryFolder();
});
afterAll(() => place?.remove());

describe('what was indexed', () => {
  let akin: OwnAkin;
  beforeAll(async () => {
    akin = await serveOnPostgres();
  });
  afterAll(() => akin?.end());

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
    const before = (await documentsOf(collection)).get('1.jpg');
    expect(before).toMatchObject({ source: first, labels: ['mine'] });

    await rename(first, moved);
    expect((await indexInto(moved)).out).toContain('1 found at another place');
    const after = await documentsOf(collection);
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
      const found = [...(await documentsOf(collection)).values()].filter(({ path: below }) =>
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
    const found = await documentsOf(collection);
    expect([...found.keys()]).toEqual(['a.jpg', 'c.jpg']);
    expect(found.get('a.jpg')).toMatchObject({ labels: ['mine'], note: 'x', path: 'a.jpg' });
    const decisions: unknown[] = [];
    for await (const ids of collection.allGroupDecisions()) decisions.push(ids);
    expect(decisions).toEqual([['a.jpg', 'c.jpg']]);
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
      const found = (await documentsOf(collection)).get('1.jpg');
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

  it('may be named by standard input and globs, and be in a new collection', async () => {
    const pictures = path.join(place.folder, 'named');
    await mkdir(path.join(pictures, 'holiday'), { recursive: true });
    const names = ['one.jpg', `it's "quoted" & 50% #1?.jpg`, 'holiday/ünï cödé 图片 🙂.jpg'];
    for (const [i, name] of names.entries())
      await writeFile(path.join(pictures, name), await picture(UNLIKE[i] as number));
    const given = ['index', '-', path.join(pictures, 'holiday/**/*.jpg'), '--collection', 'new', '--url', akin.url];
    const input = `one.jpg\n${path.join(pictures, names[1] as string)}\n`;
    const { code, out } = await runAkin(given, { cwd: pictures, input });
    expect([code, out]).toEqual([0, expect.stringContaining('3 indexed, 0 unchanged')]);
    expect((await akin.client.collection('new').status()).documents).toBe(3);
  });
});

describe('a run that is stopped', () => {
  const COUNT = 60;

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

    const ended = await runAkin(['index', many, ...where, '--collection', 'new', '--port', String(await freePort())]);
    expect(ended.err).toContain('the page is at http');
    expect(ended.out).toContain(`${COUNT - Number(indexed)} indexed, ${indexed} unchanged, 0 removed, 0 failed.`);
    expect(ended.code).toBe(0);
    await database.drop();
  });
});
