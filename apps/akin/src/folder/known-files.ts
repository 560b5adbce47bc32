import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { Collection, FoundDocument } from '@akin/client';
import type { KnownFile } from './file-match.ts';

/** A document that an earlier run stored, or what remains of one that was deleted on purpose. */
export interface KnownPicture extends KnownFile {
  readonly source: string;
  /** The path of the file in the source. */
  readonly path: string;
  readonly title: string | undefined;
  readonly labels: readonly string[];
  /** Whether its file is gone, and probably on a drive that is not connected: then only --prune-all removes it. */
  readonly isOnMissingDrive: boolean;
  /** The state of its sidecars, as of `Sidecars.stateOf`. */
  readonly sidecars: number | undefined;
}

const FIELDS = [
  'source',
  'path',
  'bytes',
  'modified',
  'file_hash',
  'file_changed',
  'file_inode',
  'file_sidecars',
  'missing',
  'file_drive_missing',
  'title',
  'labels',
];

/** The documents of a collection that came from files, and the files whose documents were deleted on purpose. */
export async function readKnownFiles(collection: Collection): Promise<KnownPicture[]> {
  const known: KnownPicture[] = [];
  const realFolder = folderResolver();
  const placeOf = async (source: string, below: string) => {
    const file = path.join(source, below);
    return path.join(await realFolder(path.dirname(file)), path.basename(file));
  };
  const { fields } = (await collection.schema()).schema;
  const names = FIELDS.filter((name) => fields.some((field) => field.name === name));
  if (names.includes('source') && names.includes('modified')) {
    const documents = collection.all({ q: 'source:* AND modified:*', fl: ['id', ...names].join(',') });
    for await (const document of documents) {
      const { id, labels, title } = document;
      const source = String(document.source);
      const below = typeof document.path === 'string' ? document.path : id;
      known.push({
        id,
        isDeleted: false,
        source,
        path: below,
        place: await placeOf(source, below),
        bytes: Number(document.bytes),
        modified: Date.parse(String(document.modified)) / 1_000,
        changed: typeof document.file_changed === 'string' ? Date.parse(document.file_changed) : undefined,
        inode: numberOf(document.file_inode),
        hash: numberOf(document.file_hash),
        title: typeof title === 'string' ? title : undefined,
        labels: Array.isArray(labels) ? labels.map(String) : [],
        isMissing: document.missing === true,
        isOnMissingDrive: document.file_drive_missing === true,
        sidecars: numberOf(document.file_sidecars),
      });
    }
  }
  for await (const { id, source, path: below, bytes, modified, hash } of collection.allTombstones()) {
    known.push({
      id,
      source,
      path: below,
      bytes,
      hash,
      isDeleted: true,
      place: await placeOf(source, below),
      modified: Date.parse(modified) / 1_000,
      changed: undefined,
      inode: undefined,
      title: undefined,
      labels: [],
      isMissing: false,
      isOnMissingDrive: false,
      sidecars: undefined,
    });
  }
  return known;
}

function numberOf(value: FoundDocument[string] | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Resolves the links of folders, each folder once. Of a folder that does not exist, those of the folders above. */
export function folderResolver(): (folder: string) => Promise<string> {
  const resolved = new Map<string, Promise<string>>();
  const resolve = (folder: string): Promise<string> => {
    const known = resolved.get(folder);
    if (known !== undefined) return known;
    const real = fs.realpath(folder).catch(async () => {
      const above = path.dirname(folder);
      return above === folder ? folder : path.join(await resolve(above), path.basename(folder));
    });
    resolved.set(folder, real);
    return real;
  };
  return resolve;
}
