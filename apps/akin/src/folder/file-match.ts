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

export type Match<Known, Found> =
  /** It is the file of a document, and nothing changed. */
  | { readonly kind: 'same'; readonly known: Known; readonly found: Found }
  /** It has the content of a document, and another path or time. */
  | { readonly kind: 'moved'; readonly known: Known; readonly found: Found; readonly hash: number }
  /** It is where the file of a document was, or was renamed, with another content: also of a deleted one. */
  | { readonly kind: 'edited'; readonly known: Known; readonly found: Found }
  /** It is a further copy of a file whose document was deleted; no document has this content. */
  | { readonly kind: 'copied'; readonly known: Known; readonly found: Found; readonly hash: number }
  | { readonly kind: 'new'; readonly found: Found };

export interface Resolution<Known, Found> {
  readonly matches: readonly Match<Known, Found>[];
  /** Known files that are not where they were, and nowhere else among the found ones. */
  readonly lost: readonly Known[];
  /** Documents whose file is that of another document, too. */
  readonly doubles: readonly { readonly double: Known; readonly of: Known }[];
  readonly unreadable: readonly { readonly found: Found; readonly error: unknown }[];
}

export function hasState(known: KnownFile, { bytes, modified, changed }: FoundFile): boolean {
  if (known.bytes !== bytes || known.modified !== modified) return false;
  return known.changed === undefined || changed === undefined || known.changed === changed;
}
