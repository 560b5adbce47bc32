import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mountsAt } from './mounts.ts';
import { watchFolders } from './watch-folders.ts';

let place: string;
let root: string;
let stop: AbortController;
let watching: Promise<void>;
/** What the folder contained at each run. */
let runs: string[];
let waiting: (() => void)[];

beforeEach(async () => {
  place = await fs.mkdtemp(path.join(tmpdir(), 'akin-watch-'));
  root = path.join(place, 'photos');
  await fs.mkdir(path.join(root, 'deep'), { recursive: true });
  await fs.mkdir(path.join(root, 'data'));
  stop = new AbortController();
  [runs, waiting] = [[], []];
});
afterEach(async () => {
  stop.abort();
  await watching;
  await fs.rm(place, { recursive: true, force: true });
});

function watchWith(pollMilliseconds?: number): void {
  const run = async () => {
    const found = await fs.readdir(root, { recursive: true }).catch(() => ['gone']);
    const linked = await fs.readdir(path.join(root, 'link')).catch(() => []);
    found.push(...linked.map((name) => path.join('link', name)));
    runs.push(found.sort().join(' '));
    for (const wake of waiting.splice(0)) wake();
  };
  watching = watchFolders([root], run, {
    except: path.join(root, 'data'),
    quietMilliseconds: 50,
    retryMilliseconds: 100,
    pollMilliseconds,
    printLine: () => {},
    signal: stop.signal,
  });
}

async function until(holds: (seen: string) => boolean): Promise<void> {
  while (!runs.some(holds)) await new Promise<void>((resolve) => waiting.push(resolve));
}

/** Writes until it is seen, because the watch may begin only after the first time. */
async function write(name: string, seen: (run: string) => boolean): Promise<void> {
  let writing = Promise.resolve();
  const again = setInterval(() => {
    writing = writing.then(() => fs.writeFile(path.join(root, name), 'x')).catch(() => {});
  }, 100);
  try {
    await until(seen);
  } finally {
    clearInterval(again);
    // Its folder may be removed next.
    await writing;
  }
}

it('runs after changes, also in folders that are new', async () => {
  watchWith();
  await write('deep/a.jpg', (seen) => seen.includes('deep/a.jpg'));
  await fs.mkdir(path.join(root, 'new'));
  await until((seen) => /new/.test(seen));
  await write('new/b.jpg', (seen) => seen.includes('new/b.jpg'));
  await fs.rename(path.join(root, 'new'), path.join(root, 'renamed'));
  await until((seen) => seen.includes('renamed/b.jpg'));
  await fs.mkdir(path.join(root, 'new'));
  await write('new/c.jpg', (seen) => seen.includes('new/c.jpg'));
  await fs.rm(path.join(root, 'deep'), { recursive: true });
  await until((seen) => !seen.includes('deep'));
});

it('does not run after changes of akin itself', async () => {
  watchWith();
  // The only run without a change.
  await until(() => true);
  await fs.writeFile(path.join(root, 'data', 'database'), 'x');
  await write('last.jpg', (seen) => seen.includes('last.jpg'));
  expect(runs.filter((seen) => !seen.includes('last.jpg'))).toEqual(['data deep']);
});

it('watches what has the name of a folder that was deleted, a root, and what a link leads to', async () => {
  const linked = path.join(place, 'linked');
  await fs.mkdir(linked);
  await fs.symlink(linked, path.join(root, 'link'));
  watchWith();
  for (const [n, folder] of [path.join(root, 'deep'), linked, root, linked].entries()) {
    const name = `${n}.jpg`;
    await write(name, (seen) => seen.includes(name));
    const count = runs.length;
    await fs.rm(folder, { recursive: true });
    // The file system probably gives it the same number.
    await fs.mkdir(folder);
    if (folder === root) await fs.symlink(linked, path.join(root, 'link'));
    while (runs.length === count) await new Promise<void>((resolve) => waiting.push(resolve));
    const inside = folder === linked ? 'link' : path.relative(root, folder);
    await write(path.join(inside, `in-${name}`), (seen) => seen.includes(path.join(inside, `in-${name}`)));
  }
  const count = runs.length;
  await fs.rm(linked, { recursive: true });
  while (runs.length === count) await new Promise<void>((resolve) => waiting.push(resolve));
  await fs.mkdir(linked);
  await write(path.join('link', 'back.jpg'), (seen) => seen.includes(path.join('link', 'back.jpg')));
  expect(runs.at(-1)).toContain('back.jpg');
});

it('tells what is mounted at the folders that are watched', () => {
  const table = [
    '21 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
    '30 21 8:1 / /home/me/My\\040Pictures/ü rw - vfat /dev/sda1 rw',
    '31 21 8:2 / /mnt/other rw - vfat /dev/sda2 rw',
    '',
  ];
  const watched = new Set(['/home/me/My Pictures', '/home/me/My Pictures/ü']);
  const isWatched = (folder: string) => watched.has(folder);
  expect(mountsAt(table.join('\n'), isWatched)).toBe(table[1]);
  expect(mountsAt('', isWatched)).toBe('');
});

it('runs at an interval for drives that do not report changes', async () => {
  watchWith(10);
  await until(() => runs.length > 2);
  expect(runs.length).toBeGreaterThan(2);
});
