import path from 'node:path';

/** What tells whether a file was changed. */
export interface FileState {
  readonly bytes: number;
  /** Modification time, in whole seconds, because not every file system stores more. */
  readonly modified: number;
  /** Time of the last change of content or attributes (ctime), in milliseconds. Undefined: not known. */
  readonly changed: number | undefined;
  /** The number of the file in its file system. Undefined: not known. */
  readonly inode: number | undefined;
}

/** The file of a stored document, or of one that was deleted on purpose. */
export interface KnownFile extends FileState {
  readonly id: string;
  readonly isDeleted: boolean;
  /** Whether the file was gone when an earlier run looked. */
  readonly isMissing: boolean;
  /** Its absolute path, with links to folders resolved. */
  readonly place: string;
  readonly hash: number | undefined;
}

/** A file that a walk found. */
export interface FoundFile extends FileState {
  /** As of a {@link KnownFile}. */
  readonly place: string;
  /** If it is a link: the absolute path of the file. */
  readonly target?: string | undefined;
  /** The same for all names of one real file, and for no other file. */
  readonly real: string;
  /** Whether the real file may have further names. */
  readonly isLinked: boolean;
}

/** The disk, to be asked about few files: whatever the walk alone cannot tell. */
export interface Disk<Found> {
  /** @throws if the file cannot be read */
  hashOf(file: Found): Promise<number>;
  /** The real file at the place of a known one. `unknown`: nobody can say, for example because of permissions. */
  realOf(file: KnownFile): Promise<{ readonly real: string } | 'gone' | 'unknown'>;
}

/** What is to be done about a file. */
export type Match<Known, Found> =
  /** It is the file of a document, and nothing changed. */
  | { readonly kind: 'same'; readonly known: Known; readonly found: Found }
  /** It has the content of a document, and another path or time. */
  | { readonly kind: 'moved'; readonly known: Known; readonly found: Found; readonly hash: number }
  /** It is where the file of a document was, with another content. */
  | { readonly kind: 'edited'; readonly known: Known; readonly found: Found }
  | { readonly kind: 'new'; readonly found: Found };

export interface Resolution<Known, Found> {
  readonly matches: readonly Match<Known, Found>[];
  /** Known files that are not where they were, and nowhere else among the found ones. */
  readonly lost: readonly Known[];
  /** Documents whose file is that of another document, too. */
  readonly doubles: readonly { readonly double: Known; readonly of: Known }[];
  readonly unreadable: readonly { readonly found: Found; readonly error: unknown }[];
}

/** One real file, with the names under which it was found. */
interface Group<Found> {
  readonly names: Found[];
  /** Whether it is matched already. */
  isDone: boolean;
  known?: KnownFile;
  hash?: number;
}

const CONCURRENT_READS = 16;

/**
 * Decides which document each found file belongs to. A file that is where it was, with the same size and times, needs
 * no second look, and one of an unknown size is new at once. All others wait for the end of the walk, and are then
 * compared by content:
 *
 * 1. A file with the content that it had stays with its document.
 * 2. A file with the content of a document whose own file is gone, or was replaced, is that file under another name.
 * 3. Any other file at the place of a document is an edited version.
 * 4. What is left is new.
 *
 * When a file was copied and then edited, 2 and 3 contradict each other, and the number of the file in its file system
 * decides: a renamed file keeps it.
 */
export class FileMatcher<Known extends KnownFile, Found extends FoundFile> {
  readonly #again: boolean;
  readonly #unclaimed: Set<Known>;
  readonly #byPlace: Map<string, Known[]>;
  readonly #sizes: ReadonlySet<number>;
  /** Numbers and contents of the files of documents that are kept. */
  readonly #kept: ReadonlySet<string>;
  readonly #groups = new Map<string, Group<Found>>();
  readonly #foundAt = new Map<string, Group<Found>>();
  readonly #numbered = new Map<number, Group<Found>>();
  readonly #waiting: Group<Found>[] = [];
  /** What the files of documents contain that were found. */
  readonly #live = new Set<string | undefined>();
  readonly #doubles: { double: Known; of: Known }[] = [];

  /** @param again compares contents even if size and times are the same */
  constructor(known: readonly Known[], again = false) {
    this.#again = again;
    // If several could have a file: first those that had it, last those that were deleted.
    const rank = ({ isDeleted, isMissing }: Known) => (isDeleted ? 2 : isMissing ? 1 : 0);
    const sorted = [...known].sort((a, b) => rank(a) - rank(b));
    this.#unclaimed = new Set(sorted);
    this.#byPlace = groupBy(sorted, ({ place }) => place);
    this.#sizes = new Set(known.map(({ bytes }) => bytes));
    this.#kept = new Set(known.flatMap((one) => (one.isDeleted ? [] : [`${one.inode} ${contentOf(one)}`])));
  }

  /** @returns undefined if the file has to wait for {@link resolve}, or is another name of one that was found */
  see(found: Found): Match<Known, Found> | undefined {
    const group = this.#groups.get(found.real);
    if (group !== undefined) {
      this.#foundAt.set(found.place, group);
      group.names.push(found);
      return undefined;
    }
    const fresh: Group<Found> = { names: [found], isDone: false };
    this.#groups.set(found.real, fresh);
    this.#foundAt.set(found.place, fresh);
    if (found.inode !== undefined) this.#numbered.set(found.inode, fresh);
    if (!this.#again && !found.isLinked) {
      const here = this.#at(found);
      const known = here.find((one) => this.#isSame(one, found));
      if (known !== undefined) return this.#claim(fresh, known, { kind: 'same', known, found });
      if (here.length === 0 && !this.#sizes.has(found.bytes)) {
        fresh.isDone = true;
        return { kind: 'new', found };
      }
    }
    this.#waiting.push(fresh);
    return undefined;
  }

  /**
   * Decides about all files that waited. Call it once, after the walk.
   *
   * @param isWalked whether the walk would have found a file at the place of a known one
   */
  async resolve(disk: Disk<Found>, isWalked: (known: Known) => boolean): Promise<Resolution<Known, Found>> {
    const matches: Match<Known, Found>[] = [];
    const unreadable: { found: Found; error: unknown }[] = [];
    // Only now is it known which other files there are.
    for (const group of this.#groups.values()) if (group.isDone) this.#addDoubles(group);
    const open = () => this.#waiting.filter(({ isDone }) => !isDone);
    if (!this.#again) {
      for (const group of open()) {
        const here = this.#find(group, (one, found) => this.#isSame(one, found));
        if (here) matches.push(this.#claimWithDoubles(group, here.known, { kind: 'same', ...here }));
      }
    }
    const hash = async (group: Group<Found>) => {
      const [found] = group.names as [Found];
      if (!this.#sizes.has(found.bytes)) return;
      try {
        group.hash = await disk.hashOf(found);
      } catch (error) {
        unreadable.push({ found, error });
        group.isDone = true;
        for (const name of group.names) for (const known of this.#at(name)) this.#unclaimed.delete(known);
      }
    };
    const toHash = open();
    for (let start = 0; start < toHash.length; start += CONCURRENT_READS) {
      await Promise.all(toHash.slice(start, start + CONCURRENT_READS).map(hash));
    }
    // A file that replaced an equal one is recognized by its number.
    const numbered = new Set([...this.#unclaimed].map((one) => `${one.inode} ${contentOf(one)}`));
    const replaces = ({ hash, names: [found] }: Group<Found>, one: Known) =>
      one.inode !== found?.inode && numbered.has(`${found?.inode} ${contentOf({ bytes: one.bytes, hash })}`);
    const keepPlaces = (mayKeep: (group: Group<Found>, one: Known) => boolean) => {
      for (const group of open()) {
        const { hash } = group;
        if (hash === undefined) continue;
        const here = this.#find(
          group,
          (one, { bytes }) => one.bytes === bytes && one.hash === hash && mayKeep(group, one),
        );
        if (!here) continue;
        const match = hasState(here.known, here.found) ? { kind: 'same' as const } : { kind: 'moved' as const, hash };
        matches.push(this.#claimWithDoubles(group, here.known, { ...match, ...here }));
      }
    };
    keepPlaces((group, one) => !replaces(group, one));
    matches.push(...(await this.#findMoved(open(), disk)));
    keepPlaces(() => true);
    for (const group of open()) {
      const here = this.#find(group, () => true);
      if (here) matches.push(this.#claimWithDoubles(group, here.known, { kind: 'edited', ...here }));
    }
    for (const group of open()) {
      group.isDone = true;
      matches.push({ kind: 'new', found: group.names[0] as Found });
    }
    const lost: Known[] = [];
    for (const known of this.#unclaimed) {
      if (known.isDeleted || !isWalked(known)) continue;
      if (this.#foundAt.has(known.place) || (await disk.realOf(known)) === 'gone') lost.push(known);
    }
    return { matches, lost, doubles: this.#doubles, unreadable };
  }

  /** Files with the content of a document whose own file is no longer where it was. */
  async #findMoved(groups: readonly Group<Found>[], disk: Disk<Found>): Promise<Match<Known, Found>[]> {
    const matches: Match<Known, Found>[] = [];
    const contentOfGroup = ({ hash, names: [found] }: Group<Found>) => found && contentOf({ bytes: found.bytes, hash });
    const known = groupBy([...this.#unclaimed], contentOf);
    const found = groupBy(groups, contentOfGroup);
    // The file that is now at the place of a known one; undefined if there is none.
    const displaced = new Map<Known, Group<Found> | undefined>();
    for (const [content, all] of known) {
      for (const one of found.has(content) ? all : []) {
        const there = this.#foundAt.get(one.place);
        if (there !== undefined) displaced.set(one, there);
        else {
          const real = await disk.realOf(one);
          if (real === 'gone') displaced.set(one, undefined);
          const group = typeof real === 'string' ? undefined : this.#groups.get(real.real);
          // A link to a file of a folder that was not walked now.
          if (group !== undefined && !group.isDone) {
            const [name] = group.names as [Found];
            matches.push(this.#claimWithDoubles(group, one, { kind: 'same', known: one, found: name }));
          }
        }
      }
    }
    const isSwapped = (group: Group<Found>) => {
      const content = contentOfGroup(group);
      return content !== undefined && known.get(content)?.some((one) => displaced.has(one));
    };
    const mayMove = (one: Known, { names: [file] }: Group<Found>) => {
      const there = displaced.get(one);
      // A copy of a picture that was kept, not the file whose document was deleted.
      if (one.isDeleted && this.#live.has(contentOf(one)) && file !== undefined) {
        return one.modified === file.modified || nameOf(one) === nameOf(file);
      }
      if (there === undefined || there.isDone || one.isDeleted || file === undefined || isSwapped(there)) return true;
      return one.inode !== undefined && one.inode === file.inode && !isBackupOf(file.place, one.place);
    };
    const traits: readonly ((file: KnownFile | Found) => unknown)[] = [
      ({ inode }) => inode,
      nameOf,
      ({ modified }) => modified,
      () => true,
    ];
    for (const [content, all] of known) {
      const same = found.get(content) ?? [];
      for (const trait of traits) {
        const left = all.filter((one) => this.#unclaimed.has(one) && displaced.has(one));
        const byTrait = groupBy(left, trait);
        for (const group of same.filter(({ isDone }) => !isDone)) {
          const [file] = group.names as [Found];
          const candidates = byTrait.get(trait(file)) ?? [];
          const tails = candidates.map((one) =>
            this.#unclaimed.has(one) && mayMove(one, group) ? commonTail(one.place, file.place) : -1,
          );
          const at = tails.indexOf(Math.max(0, ...tails));
          const [one] = at < 0 ? [] : candidates.splice(at, 1);
          if (one === undefined) continue;
          matches.push(
            this.#claimWithDoubles(group, one, { kind: 'moved', known: one, found: file, hash: group.hash as number }),
          );
        }
      }
    }
    return matches;
  }

  #at({ place, target }: Found): Known[] {
    const all = [...(this.#byPlace.get(place) ?? []), ...(target ? (this.#byPlace.get(target) ?? []) : [])];
    return all.filter((one) => this.#unclaimed.has(one));
  }

  #find(
    { names }: Group<Found>,
    fits: (known: Known, found: Found) => boolean,
  ): { readonly known: Known; readonly found: Found } | undefined {
    const fitting = names.flatMap((found) =>
      this.#at(found).flatMap((known) => (fits(known, found) ? { known, found } : [])),
    );
    // Of several names of a file, that of a document which was kept.
    return fitting.find(({ known }) => !known.isDeleted) ?? fitting[0];
  }

  /** Whether nothing changed; of a deleted document, only if the file is not that of a copy which was kept. */
  #isSame(one: Known, found: Found): boolean {
    return hasState(one, found) && !(one.isDeleted && this.#kept.has(`${found.inode} ${contentOf(one)}`));
  }

  #claim(group: Group<Found>, known: Known, match: Match<Known, Found>): Match<Known, Found> {
    group.isDone = true;
    group.known = known;
    this.#unclaimed.delete(known);
    if (!known.isDeleted) this.#live.add(contentOf(known));
    return match;
  }

  #claimWithDoubles(group: Group<Found>, known: Known, match: Match<Known, Found>): Match<Known, Found> {
    this.#claim(group, known, match);
    this.#addDoubles(group);
    return match;
  }

  /** Other documents of the same real file: as of an earlier run that did not see that it is one. */
  #addDoubles(group: Group<Found>): void {
    const { known, names } = group;
    if (known?.hash === undefined || known.isDeleted) return;
    for (const double of names.flatMap((name) => this.#at(name))) {
      if (double.isDeleted || contentOf(double) !== contentOf(known)) continue;
      // Equal files may have changed places: then its own file is another one.
      const own = double.inode === undefined ? undefined : this.#numbered.get(double.inode);
      if (own !== undefined && own !== group && !own.isDone) continue;
      this.#unclaimed.delete(double);
      this.#doubles.push({ double, of: known as Known });
    }
  }
}

function contentOf({ bytes, hash }: { bytes: number; hash: number | undefined }): string | undefined {
  return hash === undefined ? undefined : `${bytes}:${hash}`;
}

function nameOf({ place }: { place: string }): string {
  return path.basename(place).normalize('NFC');
}

/** How many names two paths have in common at their ends. */
function commonTail(one: string, other: string): number {
  const [a, b] = [one, other].map((place) => place.normalize('NFC').split(path.sep).reverse()) as [string[], string[]];
  const at = a.findIndex((name, i) => name !== b[i]);
  return at < 0 ? a.length : at;
}

/** Whether a file has the size and the times that it had. */
export function hasState(known: KnownFile, { bytes, modified, changed }: FoundFile): boolean {
  if (known.bytes !== bytes || known.modified !== modified) return false;
  return known.changed === undefined || changed === undefined || known.changed === changed;
}

/** Whether a file is named as editors name what they keep of a file that they change: `a.jpg_original`, `a (1).jpg`. */
function isBackupOf(file: string, original: string): boolean {
  const { dir, name } = path.parse(original);
  const other = path.parse(file);
  return other.dir === dir && other.base.startsWith(name) && /^[^\p{L}\p{N}]/u.test(other.base.slice(name.length));
}

/** Items without a key are left out. */
function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key | undefined): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
