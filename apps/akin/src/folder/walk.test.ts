import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { walkFolder } from './walk.ts';

const JPEG_HEAD = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'akin-walk-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(name: string, content: string | Buffer = 'x'): Promise<void> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
}

async function walked(start = folder): Promise<{ ids: string[]; problems: string[]; sources: string[] }> {
  const problems: string[] = [];
  const sources: string[] = [];
  const ids: string[] = [];
  const walk = walkFolder(start, {
    onSource: (source) => sources.push(source),
    onProblem: (file, reason) => problems.push(`${path.relative(folder, file)}: ${reason}`),
    onAbsent: () => {},
  });
  for await (const { path: id } of walk) ids.push(id);
  return { ids, problems, sources };
}

describe('walking a folder', () => {
  it('finds pictures depth first by name, with their path below the folder as id', async () => {
    for (const name of ['b.jpg', 'a/z.PNG', 'a/b/c.webp', 'c/d.heic', 'c/e.jfif', 'notes.txt', 'film.mp4']) {
      await put(name);
    }
    expect(await walked()).toEqual({
      ids: ['b.jpg', 'a/z.PNG', 'a/b/c.webp', 'c/d.heic', 'c/e.jfif'],
      problems: [],
      sources: [folder],
    });
  });

  it('recognizes pictures without an extension by their first bytes', async () => {
    await put('IMG_1', JPEG_HEAD);
    await put('IMG_2', 'text');
    await put('IMG_3', '');
    await put('IMG_4', Buffer.from('RIFF0000WEBPVP8 '));
    await put('IMG_5', Buffer.from('0000ftypheic0000'));
    await put('IMG_6', Buffer.from('0000ftypisom0000avc1'));
    expect((await walked()).ids).toEqual(['IMG_1', 'IMG_4', 'IMG_5']);
  });

  it('leaves out what is excluded, by a pattern, by a file in any folder, or because programs keep it beside photos', async () => {
    const names = ['a.jpg', 'private/b.jpg', 'raw/c.jpg', 'raw/kept.jpg', 'raw/deep/d.jpg', 'film.MOV'];
    for (const name of [...names, '@eaDir/a.jpg', '#recycle/e.jpg', '$RECYCLE.BIN/f.jpg', 'x.lrdata/g.jpg'])
      await put(name);
    await put('Photos.photoslibrary/originals/h.jpg');
    await put('Photos.photoslibrary/resources/derivatives/h.jpg');
    await put('deep/Photos.photoslibrary/resources/derivatives/i.jpg');
    await put('raw/.akinignore', '*.jpg\n!kept.jpg\n');
    const [ids, videos]: string[][] = [[], []];
    const walk = walkFolder(
      folder,
      {
        onSource: () => {},
        onProblem: () => {},
        onAbsent: () => {},
        onVideo: (file) => videos?.push(path.basename(file)),
      },
      ['private/'],
    );
    for await (const { path: id } of walk) ids?.push(id);
    expect(ids).toEqual(['a.jpg', 'Photos.photoslibrary/originals/h.jpg', 'raw/kept.jpg']);
    expect(videos).toEqual(['film.MOV']);
  });

  it('leaves out previews of a library that is the folder itself', async () => {
    for (const name of ['originals/h.jpg', 'resources/i.jpg']) await put(`My.photoslibrary/${name}`);
    expect((await walked(path.join(folder, 'My.photoslibrary'))).ids).toEqual(['originals/h.jpg']);
  });

  it('skips hidden files and folders, also behind links', async () => {
    for (const name of ['.hidden.jpg', '.cache/a.jpg', 'seen.jpg']) await put(name);
    for (const name of ['.hidden.jpg', '.cache']) await symlink(name, path.join(folder, `link to ${name.slice(1)}`));
    expect((await walked()).ids).toEqual(['seen.jpg']);
  });

  it('keeps unusual names as they are on the disk', async () => {
    const names = ['ünï cödé 图片 🙂.jpg', `it's "quoted".jpg`, 'new\nline.jpg', '-rf.jpg', '%20 [1] {a}*?.jpg'];
    for (const name of names) await put(name);
    await put('e\u0301.jpg');
    expect((await walked()).ids.sort()).toEqual([...names, 'e\u0301.jpg'].sort());
  });

  it('follows links, survives cycles, and gives a picture the id of its real place', async () => {
    await put('z/a.jpg');
    await symlink('z', path.join(folder, 'b'));
    await symlink('..', path.join(folder, 'z', 'up'));
    await symlink('a.jpg', path.join(folder, 'z', 'link.jpg'));
    const outside = await mkdtemp(path.join(tmpdir(), 'akin-walk-'));
    await writeFile(path.join(outside, 'o.jpg'), 'x');
    await symlink(outside, path.join(folder, 'a'));
    expect(await walked()).toMatchObject({ ids: ['z/a.jpg', 'z/link.jpg', 'a/o.jpg'], problems: [] });
    await rm(outside, { recursive: true });
  });

  it('reports broken links, links to themselves and names that are not UTF-8, and continues', async () => {
    await put('good.jpg');
    await symlink('nowhere', path.join(folder, 'broken.jpg'));
    await symlink('self', path.join(folder, 'self'));
    await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xe9, 0x2e, 0x78])]), 'x');
    const { ids, problems } = await walked();
    expect(ids).toEqual(['good.jpg']);
    expect(problems.sort()).toEqual([
      'broken.jpg: it does not exist',
      'self: its link points to itself',
      '\ufffd.x: its name is not UTF-8: rename it',
    ]);
  });

  it('reports folders that it may not read, and continues', async () => {
    await put('closed/a.jpg');
    await put('open.jpg');
    const { ids, problems } = await asNobody(['closed'], () => walked());
    expect(ids).toEqual(['open.jpg']);
    expect(problems).toEqual(['closed: the folder cannot be read: no permission to read it']);
  });

  it('reports a folder that does not exist', async () => {
    expect((await walked(path.join(folder, 'none'))).problems).toEqual([
      'none: the folder cannot be read: it does not exist',
    ]);
  });
});

/** Runs a function while some folders are closed. Root can read everything, so it runs as another user. */
async function asNobody<Result>(closed: string[], work: () => Promise<Result>): Promise<Result> {
  const { chmod } = await import('node:fs/promises');
  await chmod(folder, 0o755);
  for (const name of closed) await chmod(path.join(folder, name), 0o000);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    for (const name of closed) await chmod(path.join(folder, name), 0o755);
  }
}
