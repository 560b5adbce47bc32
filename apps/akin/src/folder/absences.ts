import path from 'node:path';
import type { Collection } from '@akin/client';
import type { Batch } from './batch.ts';
import { folderResolver, type KnownPicture } from './known-files.ts';

/** A folder of which nothing is removed, because so many of its files are gone that it may not be there. */
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
  readonly #sources = new Set<string>();
  /** The real paths of the sources, once they are resolved. */
  #roots = new Map<string, string>();
  lost: readonly KnownPicture[] = [];

  constructor(known: readonly KnownPicture[]) {
    this.#known = known;
  }

  /** @param folder a folder that the run walks, absolute, whether it exists or not */
  addRoot(folder: string): void {
    this.#sources.add(folder);
  }

  /** Whether a file is in one of the folders. */
  async walked(): Promise<(known: KnownPicture) => boolean> {
    const resolve = folderResolver();
    for (const source of this.#sources) this.#roots.set(source, await resolve(source));
    return (known) => [...this.#roots].some((root) => isOf(known, root));
  }

  /**
   * Marks the documents, or removes them. A folder that lost more than half of its pictures is probably not mounted:
   * nothing of it is removed, unless that is wanted.
   */
  async apply(
    collection: Collection,
    batch: Batch,
    prune: 'none' | 'usual' | 'all',
  ): Promise<{ missing: number; removed: number; refused: readonly RefusedRoot[] }> {
    const refused: RefusedRoot[] = [];
    const kept = new Set<KnownPicture>();
    for (const root of this.#roots) {
      const gone = this.lost.filter((one) => isOf(one, root));
      const known = this.#known.filter((one) => !one.isDeleted && isOf(one, root)).length;
      if (gone.length * 2 <= known) continue;
      refused.push({ folder: root[0], gone: gone.length, known });
      for (const one of gone) kept.add(one);
    }
    const isRemoved = (one: KnownPicture) => prune === 'all' || (prune === 'usual' && !kept.has(one));
    const removed = this.lost.filter(isRemoved).map(({ id }) => id);
    for (let start = 0; start < removed.length; start += 1000) {
      // Leaves no tombstones, because these were not deleted on purpose: a file that comes back is indexed again.
      await collection.deleteByIds(removed.slice(start, start + 1000), { tombstones: false });
    }
    const missing = this.lost.filter((one) => !isRemoved(one));
    for (const { id, isMissing } of missing) {
      if (!isMissing) await batch.add({ id, _version_: 1, missing: { set: true } });
    }
    await batch.flush();
    return { missing: missing.length, removed: removed.length, refused: prune === 'all' ? [] : refused };
  }
}

function isOf({ source, place }: KnownPicture, [folder, real]: readonly [string, string]): boolean {
  return source === folder || place.startsWith(real.endsWith(path.sep) ? real : `${real}${path.sep}`);
}
