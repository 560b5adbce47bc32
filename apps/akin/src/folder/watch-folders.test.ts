import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
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
    runs.push(found.sort().join(' '));
    for (const wake of waiting.splice(0)) wake();
  };
  watching = watchFolders([root], run, {
    except: path.join(root, 'data'),
    quietMilliseconds: 50,
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
  const again = setInterval(() => fs.writeFile(path.join(root, name), 'x').catch(() => {}), 100);
  try {
    await until(seen);
  } finally {
    clearInterval(again);
  }
}

it('runs after changes, also in folders that are new, and not after those of akin itself', async () => {
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
  await fs.writeFile(path.join(root, 'data', 'database'), 'x');
  await write('last.jpg', (seen) => seen.includes('last.jpg'));
  expect(runs.filter((seen) => seen.includes('data/database') && !seen.includes('last.jpg'))).toEqual([]);
});

it('runs at an interval for drives that do not report changes', async () => {
  watchWith(10);
  await until(() => runs.length > 2);
  expect(runs.length).toBeGreaterThan(2);
});
