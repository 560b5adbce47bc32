import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { Collection } from '@akin/client';
import type { Batch } from './batch.ts';
import { folderResolver, type KnownPicture } from './known-files.ts';
import { identityOf } from './walk.ts';

/** A folder of which nothing is removed, because its drive may not be there. */
export interface RefusedRoot {
  readonly folder: string;
  /** The number of pictures whose files are gone. */
  readonly gone: number;
  /** The number of pictures before. */
  readonly known: number;
}

/** Documents of a run's folders whose files are gone. */
export class Absences {
  readonly #known: readonly KnownPicture[];
  /** What was at the path of each source before the walk. */
  readonly #sources = new Map<string, Promise<string | undefined>>();
  /** The real paths of the sources, once they are resolved. */
  #roots = new Map<string, string>();
  lost: readonly KnownPicture[] = [];

  constructor(known: readonly KnownPicture[]) {
    this.#known = known;
  }

  /** @param folder a folder that the run walks, absolute, whether it exists or not */
  addRoot(folder: string): void {
    this.#sources.set(folder, identityOf(folder));
  }

  /** Whether a file is in one of the folders. */
  async walked(): Promise<(known: KnownPicture) => boolean> {
    const resolve = folderResolver();
    for (const source of this.#sources.keys()) this.#roots.set(source, await resolve(source));
    return (known) => [...this.#roots].some((root) => isOf(known, root));
  }

  /**
   * Marks the documents, or removes them. Nothing is removed of a folder whose drive may not be there, unless that is
   * wanted. `missing` are all marked ones that are not on such a drive, `gone` those that were not marked before.
   */
  async apply(
    collection: Collection,
    batch: Batch,
    prune: 'none' | 'usual' | 'all',
  ): Promise<{ missing: number; removed: number; gone: number; refused: readonly RefusedRoot[] }> {
    const refused = prune === 'all' || this.lost.length === 0 ? [] : await this.#refused();
    const isOnDrive = new Set(refused.flatMap(({ files }) => files));
    const isRemoved = (one: KnownPicture) => prune === 'all' || (prune === 'usual' && !isOnDrive.has(one));
    const removed = this.lost.filter(isRemoved).map(({ id }) => id);
    for (let start = 0; start < removed.length; start += 1000) {
      // Leaves no tombstones, because these were not deleted on purpose: a file that comes back is indexed again.
      await collection.deleteByIds(removed.slice(start, start + 1000), { tombstones: false });
    }
    const kept = this.lost.filter((one) => !isRemoved(one));
    for (const one of kept) {
      const isNew = !one.isMissing || (isOnDrive.has(one) && !one.isOnMissingDrive);
      const drive = isOnDrive.has(one) ? { file_drive_missing: { set: true } } : {};
      if (isNew) await batch.add({ id: one.id, _version_: 1, missing: { set: true }, ...drive });
    }
    await batch.flush();
    return {
      missing: kept.filter((one) => !isOnDrive.has(one)).length,
      removed: removed.length,
      gone: removed.length + kept.filter(({ isMissing }) => !isMissing).length,
      refused: refused.map(({ folder, files, known }) => ({ folder, gone: files.length, known })),
    };
  }

  /**
   * Folders whose drives may not be there: those that were named, now or in an earlier run, and lost more than half of
   * their pictures, or became another folder during the walk; and those below that lost as many, and are now empty or
   * have other files with the same names. Only what this run lost is compared with what the last one found; but what was
   * on a missing drive stays so.
   */
  async #refused(): Promise<Refused[]> {
    const resolve = folderResolver();
    const roots = new Map(this.#roots);
    for (const { source } of this.lost) if (!roots.has(source)) roots.set(source, await resolve(source));
    const refused = new Map<string, Refused>();
    const isInside = (file: string) => [...refused.keys()].some((real) => isBelow(file, real));
    const fresh = this.lost.filter(({ isMissing }) => !isMissing);
    const there = this.#known.filter(({ isDeleted, isMissing }) => !isDeleted && !isMissing);
    for (const root of roots) {
      const [folder, real] = root;
      const files = fresh.filter((one) => isOf(one, root));
      const known = there.filter((one) => isOf(one, root)).length;
      const isOther = this.#sources.has(folder) && (await this.#sources.get(folder)) !== (await identityOf(folder));
      if (files.length * 2 > known || (isOther && files.length > 0)) refused.set(real, { folder, files, known });
    }
    const others = fresh.filter(({ place }) => !isInside(place));
    for (const one of await foldersThatLostMost([...roots.values()], others, there)) {
      if (!isInside(one.folder)) refused.set(one.folder, one);
    }
    for (const root of roots) {
      const [folder, real] = root;
      const files = this.lost.filter((one) => one.isOnMissingDrive && isOf(one, root));
      const { files: now = [], known = there.filter((one) => isOf(one, root)).length } = refused.get(real) ?? {};
      if (files.length > 0) refused.set(real, { folder, files: [...now, ...files], known: known + files.length });
    }
    return [...refused.values()];
  }
}

/** The folders below roots that lost most of their files, and are now empty or have other ones. Outer ones first. */
async function foldersThatLostMost(
  roots: readonly string[],
  lost: readonly KnownPicture[],
  there: readonly KnownPicture[],
): Promise<Refused[]> {
  const found = new Map<string, { folder: string; files: KnownPicture[]; known: number; isOccupied: boolean }>();
  const foldersOf = ({ place }: KnownPicture) =>
    foldersAbove(place).filter((folder) => roots.some((root) => isBelow(folder, root)));
  for (let start = 0; start < lost.length; start += CONCURRENT_READS) {
    const some = lost.slice(start, start + CONCURRENT_READS);
    const occupied = await Promise.all(some.map(({ place }) => identityOf(place)));
    for (const [i, one] of some.entries()) {
      for (const folder of foldersOf(one)) {
        const state = found.get(folder) ?? { folder, files: [], known: 0, isOccupied: false };
        found.set(folder, state);
        state.files.push(one);
        state.isOccupied ||= occupied[i] !== undefined;
      }
    }
  }
  for (const one of found.size === 0 ? [] : there) {
    for (const folder of foldersOf(one)) {
      const state = found.get(folder);
      if (state) state.known++;
    }
  }
  const most: Refused[] = [];
  for (const one of [...found.values()].sort((a, b) => a.folder.length - b.folder.length)) {
    if (one.files.length * 2 > one.known && (one.isOccupied || (await isEmpty(one.folder)))) most.push(one);
  }
  return most;
}

interface Refused {
  readonly folder: string;
  readonly files: readonly KnownPicture[];
  readonly known: number;
}

const CONCURRENT_READS = 16;

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(path.sep) ? folder : `${folder}${path.sep}`);
}

function isOf({ source, place }: KnownPicture, [folder, real]: readonly [string, string]): boolean {
  return source === folder || isBelow(place, real);
}

function foldersAbove(file: string): string[] {
  const folders: string[] = [];
  for (let one = path.dirname(file); one !== path.dirname(one); one = path.dirname(one)) folders.push(one);
  return folders;
}

/** False also for a folder that is not there. Hidden entries do not count. */
function isEmpty(folder: string): Promise<boolean> {
  return fs.readdir(folder).then(
    (names) => names.every((name) => name.startsWith('.')),
    () => false,
  );
}
