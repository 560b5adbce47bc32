import { type FSWatcher, promises as fs, watch } from 'node:fs';
import path from 'node:path';
import { sleep } from '@akin/runtime';
import { isFolder } from '../is-folder.ts';
import { readMounts } from './mounts.ts';
import { identityOf } from './walk.ts';

/** After a change, this long nothing else must change: files that are being written or copied wait. */
const QUIET_MILLISECONDS = 2_000;
/** If changes never end, a run starts anyway. */
const LONGEST_WAIT_MILLISECONDS = 60_000;
/** How often a folder that cannot be watched, for example because its drive is not connected, is looked for. */
const RETRY_MILLISECONDS = 30_000;
/** Here one watch sees everything below a folder. Elsewhere each folder needs its own. */
const IS_RECURSIVE = process.platform === 'darwin' || process.platform === 'win32';

export interface WatchOptions {
  /** Whose changes do not count: akin writes there. */
  readonly except: string;
  /** Runs at this interval, too, for drives that do not report changes. */
  readonly pollMilliseconds?: number | undefined;
  readonly quietMilliseconds?: number;
  readonly retryMilliseconds?: number;
  readonly printLine: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Calls a function after changes in folders or below, one call at a time, until the signal. */
export async function watchFolders(
  roots: readonly string[],
  run: () => Promise<unknown>,
  options: WatchOptions,
): Promise<void> {
  const { except, pollMilliseconds, printLine, signal } = options;
  const { quietMilliseconds = QUIET_MILLISECONDS, retryMilliseconds = RETRY_MILLISECONDS } = options;
  const watched = new WatchedFolders(await fs.realpath(except).catch(() => path.resolve(except)), printLine);
  signal.addEventListener('abort', () => watched.close(), { once: true });
  try {
    // What changed before the watch began is not known.
    watched.hasChanged = true;
    for (;;) {
      await watched.changed(pollMilliseconds ?? retryMilliseconds, signal);
      const isDue = watched.hasChanged || pollMilliseconds !== undefined;
      if (!(await watched.havePlacesChanged(roots)) && !isDue) continue;
      await watched.update(roots);
      const since = performance.now();
      while (watched.hasChanged && performance.now() - since < LONGEST_WAIT_MILLISECONDS) {
        watched.hasChanged = false;
        await sleep(quietMilliseconds, signal);
      }
      // Before the run looks at the files: what changes from now on leads to another run.
      watched.hasChanged = false;
      await watched.update(roots);
      await run().catch((error: unknown) => {
        if (!signal.aborted) printLine(error instanceof Error ? error.message : String(error));
      });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    watched.close();
  }
}

class WatchedFolders {
  hasChanged = false;
  readonly #except: string;
  readonly #printLine: (line: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  /** What was at each root. */
  readonly #roots = new Map<string, string | undefined>();
  /** Folders that are gone, and in no watched folder: nothing tells when they are back. */
  readonly #gone = new Set<string>();
  /** The file systems that are mounted at watched folders. */
  #mounts = '';
  #wake = () => {};
  #isLimitReported = false;
  #isClosed = false;

  constructor(except: string, printLine: (line: string) => void) {
    this.#except = except;
    this.#printLine = printLine;
  }

  async changed(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.hasChanged) return;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([woken, sleep(milliseconds, signal)]);
  }

  /** Whether a root came or went, another folder came back that nobody would report, or a drive was mounted somewhere. */
  async havePlacesChanged(roots: readonly string[]): Promise<boolean> {
    let isOther = false;
    for (const root of roots) {
      const identity = await identityOf(root);
      if (this.#roots.get(root) === identity) continue;
      isOther = true;
      this.#roots.set(root, identity);
    }
    for (const folder of this.#gone) {
      if ((await identityOf(folder)) === undefined) continue;
      isOther = true;
      this.#gone.delete(folder);
    }
    // What is mounted on a folder hides what is watched there.
    const mounts = await this.#readMounts();
    isOther ||= mounts !== this.#mounts;
    this.#mounts = mounts;
    if (isOther) this.#forgetAll();
    return isOther;
  }

  async update(roots: readonly string[]): Promise<void> {
    for (const root of roots) {
      for await (const folder of foldersBelow(root, this.#except)) {
        this.#watch(folder);
        if (IS_RECURSIVE) break;
      }
    }
    this.#mounts = await this.#readMounts();
  }

  #readMounts(): Promise<string> {
    return readMounts((folder) => this.#watchers.has(folder));
  }

  close(): void {
    this.#isClosed = true;
    this.#forgetAll();
  }

  #forgetAll(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #watch(folder: string): void {
    if (this.#isClosed || this.#watchers.has(folder)) return;
    try {
      const watcher = watch(folder, { recursive: IS_RECURSIVE }, (event, name) => {
        const file = name === null ? undefined : path.join(folder, name);
        if (`${file}${path.sep}`.startsWith(`${this.#except}${path.sep}`)) return;
        // The watch of a folder that was renamed stays with it, and another one may get its name.
        if (event === 'rename' && file !== undefined && this.#watchers.has(file)) this.#forget(file);
        // The folder itself is gone, and the watch with it: what gets its name may even have its number.
        if (event === 'rename' && name === path.basename(folder)) {
          if (!this.#watchers.has(path.dirname(folder))) this.#gone.add(folder);
          this.#forget(folder);
        }
        this.hasChanged = true;
        this.#wake();
      });
      this.#watchers.set(folder, watcher);
      watcher.on('error', () => {
        this.#forget(folder);
        this.hasChanged = true;
        this.#wake();
      });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (this.#isLimitReported || (code !== 'ENOSPC' && code !== 'EMFILE')) return;
      this.#isLimitReported = true;
      this.#printLine(
        `${folder} and others cannot be watched, because the system watches too many folders already: raise fs.inotify.max_user_watches, or use --poll.`,
      );
    }
  }

  #forget(folder: string): void {
    for (const [one, watcher] of this.#watchers) {
      if (one !== folder && !one.startsWith(`${folder}${path.sep}`)) continue;
      watcher.close();
      this.#watchers.delete(one);
    }
  }
}

/** The real paths of a folder and all visible ones below it, also behind links. */
async function* foldersBelow(root: string, except: string): AsyncGenerator<string> {
  const realOf = (folder: string) => fs.realpath(folder).catch(() => undefined);
  const seen = new Set<string>();
  const folders = [await realOf(root)];
  for (let folder = folders.pop(); folders.length > 0 || folder !== undefined; folder = folders.pop()) {
    if (folder === undefined || folder === except || seen.has(folder)) continue;
    seen.add(folder);
    yield folder;
    const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const file = path.join(folder, entry.name);
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) folders.push(file);
      else if (entry.isSymbolicLink() && (await isFolder(file))) folders.push(await realOf(file));
    }
  }
}
