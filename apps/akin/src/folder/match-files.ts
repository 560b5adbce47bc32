import { type Disk, type FoundFile, hasState, type KnownFile, type Match, type Resolution } from './file-match.ts';
import { areRelated, commonTail, foldedPlace, isBackupOf, nameOf } from './file-names.ts';

type Look<Known> = (known: Known) => Promise<{ readonly real: string } | 'gone' | 'unknown'>;

/** One real file, with the names under which it was found. */
interface Group<Found> {
  readonly names: Found[];
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
 * 3. Any other file at the place of a document is an edited version, unless it is a copy of one whose document was
 *    deleted. So is a file with the number of a file that is gone, if it is in the same folder or has the same name.
 * 4. What is left is a further copy of a file whose document was deleted, an edited version of one, or new.
 *
 * When a file was copied and then edited, 2 and 3 contradict each other, and the number of the file in its file system
 * decides: a renamed file keeps it. Whether an edited version shows another picture is not decided here.
 */
export class FileMatcher<Known extends KnownFile, Found extends FoundFile> {
  readonly #again: boolean;
  readonly #unclaimed: Set<Known>;
  readonly #byPlace: Map<string, Known[]>;
  readonly #sizes: ReadonlySet<number>;
  /** Numbers and folded places of the files of documents. */
  readonly #traces: ReadonlySet<number | string | undefined>;
  /** Numbers and contents of the files of documents that are kept. */
  readonly #kept: ReadonlySet<string>;
  readonly #keptContents: ReadonlySet<string | undefined>;
  /** Of each content, the first document that was deleted. */
  readonly #deleted = new Map<string, Known>();
  readonly #groups = new Map<string, Group<Found>>();
  readonly #foundAt = new Map<string, Group<Found>>();
  readonly #foundAtFolded = new Set<string>();
  readonly #numbered = new Map<number, Group<Found>>();
  /** Documents of a found file at places that were not walked. */
  readonly #aliases = new Map<Group<Found>, Known[]>();
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
    const kept = known.filter(({ isDeleted }) => !isDeleted);
    this.#traces = new Set(kept.flatMap((one) => [one.inode, foldedPlace(one)]).filter((trace) => trace !== undefined));
    this.#kept = new Set(kept.map((one) => `${one.inode} ${contentOf(one)}`));
    this.#keptContents = new Set(kept.map(contentOf));
    for (const one of sorted) {
      const content = one.isDeleted ? contentOf(one) : undefined;
      if (content !== undefined && !this.#deleted.has(content)) this.#deleted.set(content, one);
    }
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
    this.#foundAtFolded.add(foldedPlace(found));
    if (found.inode !== undefined) this.#numbered.set(found.inode, fresh);
    if (!this.#again && !found.isLinked) {
      const here = this.#at(found);
      const known = here.find((one) => this.#isSame(one, found));
      if (known !== undefined) return this.#claim(fresh, known, { kind: 'same', known, found });
      const isTraced = this.#traces.has(found.inode) || this.#traces.has(foldedPlace(found));
      if (here.length === 0 && !isTraced && !this.#sizes.has(found.bytes)) {
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
   * @throws the reason of the signal
   */
  async resolve(
    disk: Disk<Found>,
    isWalked: (known: Known) => boolean,
    signal?: AbortSignal,
  ): Promise<Resolution<Known, Found>> {
    const matches: Match<Known, Found>[] = [];
    const unreadable: { found: Found; error: unknown }[] = [];
    const look = this.#lookAt(disk, signal);
    await this.#findAliases(look);
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
        for (const { known } of this.#here(group)) this.#unclaimed.delete(known);
      }
    };
    await forEach(open(), hash, signal);
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
    matches.push(...(await this.#findMoved(open(), look)));
    keepPlaces(() => true);
    for (const group of open()) {
      if (this.#deletedOf(group)) continue;
      const here = this.#find(group, ({ isDeleted }) => !isDeleted);
      if (here) matches.push(this.#claimWithDoubles(group, here.known, { kind: 'edited', ...here }));
    }
    matches.push(...(await this.#findRenamed(open(), look)));
    for (const group of open()) {
      const { names, hash } = group;
      const found = names[0] as Found;
      const known = this.#deletedOf(group);
      const isCopy = this.#keptContents.has(contentOf({ bytes: found.bytes, hash }) ?? '');
      const here = isCopy ? undefined : this.#find(group, ({ isDeleted }) => isDeleted);
      group.isDone = true;
      if (known && hash !== undefined) matches.push({ kind: 'copied', known, found, hash });
      else if (here) matches.push(this.#claim(group, here.known, { kind: 'edited', ...here }));
      else matches.push({ kind: 'new', found });
    }
    const unseen = [...this.#unclaimed].filter((one) => !one.isDeleted && isWalked(one));
    const isLost = new Set<Known>();
    await forEach(
      unseen,
      async (one) => {
        if (this.#foundAt.has(one.place) || (await look(one)) === 'gone') isLost.add(one);
      },
      signal,
    );
    return { matches, lost: unseen.filter((one) => isLost.has(one)), doubles: this.#doubles, unreadable };
  }

  #lookAt(disk: Disk<Found>, signal: AbortSignal | undefined): Look<Known> {
    const seen = new Map<Known, ReturnType<Disk<Found>['realOf']>>();
    return (known) => {
      signal?.throwIfAborted();
      const result = seen.get(known) ?? disk.realOf(known);
      seen.set(known, result);
      return result;
    };
  }

  /**
   * Documents whose place was not seen, but whose file was found: by a link from another folder, or because the disk
   * does not tell the case of letters apart.
   */
  async #findAliases(look: Look<Known>): Promise<void> {
    const isCandidate = (one: Known) =>
      !one.isDeleted &&
      !this.#foundAt.has(one.place) &&
      ((one.inode !== undefined && this.#numbered.has(one.inode)) || this.#foundAtFolded.has(foldedPlace(one)));
    await forEach([...this.#unclaimed].filter(isCandidate), async (one) => {
      const real = await look(one);
      const group = typeof real === 'string' ? undefined : this.#groups.get(real.real);
      if (group === undefined) return;
      const others = this.#aliases.get(group);
      if (others) others.push(one);
      else this.#aliases.set(group, [one]);
    });
  }

  /** Files with the content of a document whose own file is no longer where it was. */
  async #findMoved(groups: readonly Group<Found>[], look: Look<Known>): Promise<Match<Known, Found>[]> {
    const matches: Match<Known, Found>[] = [];
    const contentOfGroup = ({ hash, names: [found] }: Group<Found>) => found && contentOf({ bytes: found.bytes, hash });
    const known = groupBy([...this.#unclaimed], contentOf);
    const found = groupBy(groups, contentOfGroup);
    // The file that is now at the place of a known one; undefined if there is none.
    const displaced = new Map<Known, Group<Found> | undefined>();
    const candidates = [...known].flatMap(([content, all]) => (found.has(content) ? all : []));
    await forEach(candidates, async (one) => {
      const there = this.#foundAt.get(one.place);
      if (there !== undefined) displaced.set(one, there);
      else if ((await look(one)) === 'gone') displaced.set(one, undefined);
    });
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
      if (there === undefined || there.isDone || file === undefined || isSwapped(there)) return true;
      if (isBackupOf(file.place, one.place)) return false;
      return one.isDeleted || (one.inode !== undefined && one.inode === file.inode);
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

  /** Files that were renamed and then edited: they have the number of a file that is gone, or its name in other letters. */
  async #findRenamed(groups: readonly Group<Found>[], look: Look<Known>): Promise<Match<Known, Found>[]> {
    const matches: Match<Known, Found>[] = [];
    const unclaimed = [...this.#unclaimed].filter(({ isDeleted }) => !isDeleted);
    const byNumber = groupBy(unclaimed, ({ inode }) => inode);
    const byPlace = groupBy(unclaimed, foldedPlace);
    for (const group of groups) {
      const found = group.names[0] as Found;
      const { inode, bytes } = found;
      // The number of a removed file is given to the next one, which may be a copy.
      if (this.#keptContents.has(contentOf({ bytes, hash: group.hash }) ?? '') || this.#deletedOf(group)) continue;
      const numbered = inode === undefined ? [] : (byNumber.get(inode) ?? []);
      const candidates = [...(byPlace.get(foldedPlace(found)) ?? []), ...numbered];
      for (const known of candidates.filter((one) => this.#unclaimed.has(one) && areRelated(one, found))) {
        if (!this.#foundAt.has(known.place) && (await look(known)) !== 'gone') continue;
        matches.push(this.#claimWithDoubles(group, known, { kind: 'edited', known, found }));
        break;
      }
    }
    return matches;
  }

  /** The deleted document whose file has this content, if no document was kept that has it. */
  #deletedOf({ names: [found], hash }: Group<Found>): Known | undefined {
    const content = found && contentOf({ bytes: found.bytes, hash });
    return content === undefined || this.#keptContents.has(content) ? undefined : this.#deleted.get(content);
  }

  #at({ place, target }: Found): Known[] {
    const all = [...(this.#byPlace.get(place) ?? []), ...(target ? (this.#byPlace.get(target) ?? []) : [])];
    return all.filter((one) => this.#unclaimed.has(one));
  }

  /** The unclaimed documents of a file, each with the name by which it has the file. */
  #here(group: Group<Found>): { readonly known: Known; readonly found: Found }[] {
    const [first] = group.names as [Found];
    const aliases = (this.#aliases.get(group) ?? []).filter((one) => this.#unclaimed.has(one));
    return [
      ...group.names.flatMap((found) => this.#at(found).map((known) => ({ known, found }))),
      ...aliases.map((known) => ({ known, found: { ...first, target: known.place } })),
    ];
  }

  #find(
    group: Group<Found>,
    fits: (known: Known, found: Found) => boolean,
  ): { readonly known: Known; readonly found: Found } | undefined {
    const fitting = this.#here(group).filter(({ known, found }) => fits(known, found));
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
    const { known } = group;
    if (known?.hash === undefined || known.isDeleted) return;
    for (const { known: double } of this.#here(group)) {
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

/** @throws the reason of the signal */
async function forEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  for (let start = 0; start < items.length; start += CONCURRENT_READS) {
    signal?.throwIfAborted();
    await Promise.all(items.slice(start, start + CONCURRENT_READS).map(work));
  }
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
