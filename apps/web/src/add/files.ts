/** A file of this computer, with its path relative to the chosen folder. */
export interface LocalFile {
  readonly path: string;
  readonly file: File;
}

/** Extensions of picture files for which browsers report no type. */
const EXTENSIONS =
  /\.(jpe?g|png|gif|webp|avif|heic|heif|tiff?|bmp|svg|jxl|nef|nrw|cr[23]|dng|arw|sr2|raf|orf|rw2|pef|srw)$/i;
/** Hidden and system files in folders. */
const HIDDEN = /(^|\/)(\.|__MACOSX\/|@eaDir\/|Thumbs\.db$)/;

export function isPicture({ path, file }: LocalFile): boolean {
  return !HIDDEN.test(path) && (file.type.startsWith('image/') || EXTENSIONS.test(path));
}

export function chosenFiles(list: FileList): LocalFile[] {
  return [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Files, and how many files and folders could not be read: they were removed meanwhile, or are not allowed. */
export interface DroppedFiles {
  readonly files: readonly LocalFile[];
  readonly unreadable: number;
}

/**
 * All dropped files, including those in folders. Call it synchronously in the event handler, because the browser clears
 * the data afterwards.
 */
export function droppedFiles(transfer: DataTransfer): Promise<DroppedFiles> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  return filesBelow(entries);
}

export function holdsFolder(transfer: DataTransfer): boolean {
  return [...transfer.items].some((item) => item.webkitGetAsEntry()?.isDirectory);
}

async function filesBelow(entries: readonly FileSystemEntry[]): Promise<DroppedFiles> {
  const files: LocalFile[] = [];
  let unreadable = 0;
  const waiting = [...entries];
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    try {
      if (isFolder(entry)) for (const one of await entriesOf(entry)) waiting.push(one);
      else files.push(await fileOf(entry as FileSystemFileEntry));
    } catch {
      unreadable += 1;
    }
  }
  return { files: files.sort((a, b) => (a.path < b.path ? -1 : 1)), unreadable };
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

/** Browsers return about a hundred entries for each call, and an empty list at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<LocalFile> {
  return new Promise((resolve, reject) =>
    entry.file((file) => resolve({ path: entry.fullPath.replace(/^\//, ''), file }), reject),
  );
}
