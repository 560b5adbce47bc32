import { promises as fs } from 'node:fs';
import path from 'node:path';
import ignore from 'ignore';

/** In any folder: patterns of what to leave out below it, in the syntax of .gitignore. */
const IGNORE_FILE = '.akinignore';

/** What photo programs, network drives and systems keep beside photos: thumbnails, previews, and what was deleted. */
const DEFAULTS = ['@eaDir/', '\\#recycle/', '$RECYCLE.BIN/', 'System Volume Information/', '.thumbnails/', '*.lrdata/'];

/** In libraries of Apple, also if the library itself is the folder that is indexed. */
const IN_LIBRARIES = [
  '**/*.photoslibrary/resources/',
  '**/*.photoslibrary/scopes/',
  '**/*.photoslibrary/private/',
  '**/*.photoslibrary/internal/',
  '**/*.photolibrary/Thumbnails/',
  '**/*.photolibrary/Previews/',
];

interface Rules {
  /** The folder that the patterns are relative to. */
  readonly base: string;
  readonly patterns: ReturnType<typeof ignore>;
}

/** What is left out in a folder. Immutable: each folder below has its own. */
export class Exclusions {
  readonly #rules: readonly Rules[];

  private constructor(rules: readonly Rules[]) {
    this.#rules = rules;
  }

  /** @param patterns of the command line, relative to the root */
  static of(root: string, patterns: readonly string[]): Exclusions {
    return new Exclusions([
      { base: path.dirname(root), patterns: ignore().add(IN_LIBRARIES) },
      { base: root, patterns: ignore().add([...DEFAULTS, ...patterns]) },
    ]);
  }

  /** The exclusions of a folder with those of its own file. @throws Error of the system, if that cannot be read */
  async inFolder(folder: string, names: readonly string[]): Promise<Exclusions> {
    if (!names.includes(IGNORE_FILE)) return this;
    const text = await fs.readFile(path.join(folder, IGNORE_FILE), 'utf8');
    return new Exclusions([...this.#rules, { base: folder, patterns: ignore().add(text) }]);
  }

  /** The pattern that says most about a file decides: the one of the nearest folder. */
  has(file: string, isFolder: boolean): boolean {
    let isExcluded = false;
    for (const { base, patterns } of this.#rules) {
      const below = path.relative(base, file).split(path.sep).join('/');
      if (below.startsWith('../')) continue;
      const { ignored, unignored } = patterns.test(isFolder ? `${below}/` : below);
      isExcluded = ignored || (isExcluded && !unignored);
    }
    return isExcluded;
  }
}

/** What is left out of files that were not found by a walk. Each folder is looked at once. */
export class ExclusionsOfFiles {
  readonly #base: string;
  /** Undefined for a folder that is left out itself. */
  readonly #folders = new Map<string, Promise<Exclusions | undefined>>();

  /** @param base the folder that all files are in */
  constructor(base: string, patterns: readonly string[]) {
    this.#base = base;
    this.#folders.set(base, inFolder(Exclusions.of(base, patterns), base));
  }

  async has(file: string): Promise<boolean> {
    const exclusions = await this.#of(path.dirname(file));
    return exclusions === undefined || exclusions.has(file, false);
  }

  #of(folder: string): Promise<Exclusions | undefined> {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const above = path.dirname(folder);
    const own = (above === folder ? Promise.resolve(Exclusions.of(this.#base, [])) : this.#of(above)).then((outer) =>
      outer === undefined || outer.has(folder, true) ? undefined : inFolder(outer, folder),
    );
    this.#folders.set(folder, own);
    return own;
  }
}

/** As `inFolder`, for a folder whose names are not known. */
async function inFolder(outer: Exclusions, folder: string): Promise<Exclusions> {
  try {
    return await outer.inFolder(folder, [IGNORE_FILE]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return outer;
    throw error;
  }
}
