import path from 'node:path';
import { type PLACE_FIELDS, titleOfFile } from '@akin/domain';
import { toFields } from '@akin/imaging';
import type { Analysis } from '@akin/modules/analyze';
import { factsRecord, updateOfFacts } from './file-facts.ts';
import type { KnownPicture } from './known-files.ts';
import type { StoredPicture } from './stored-pictures.ts';
import type { Candidate } from './walk.ts';

/*
 * Documents of files. Only a file that has no document yet gives a whole document. All others are atomic updates of the
 * fields that the file owns: what people added to the document stays.
 */

export interface FileDocument {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** @param hash of {@link hashOfBytes} */
export function newDocument(
  id: string,
  file: Candidate,
  hash: number,
  analysis: Analysis,
  ownLabels: readonly string[],
): FileDocument {
  const labels = [...ownLabels, ...(analysis.facts?.keywords ?? [])];
  const said = toFields(analysis.facts ?? {});
  const record = factsRecord(said);
  return {
    id,
    title: titleOf(file.path),
    ...fieldsOfFile(file, hash),
    ...said,
    ...(record === undefined ? {} : { file_facts: record }),
    ...fieldsOfPicture(analysis),
    ...(labels.length > 0 ? { labels } : {}),
  };
}

export interface FileChange {
  readonly file: Candidate;
  /** If its content, place or times changed. */
  readonly hash?: number | undefined;
  /** If its content changed, or what describes it: the whole analysis, or only the facts. */
  readonly analysis?: Analysis | undefined;
  /** With `analysis`. */
  readonly stored?: StoredPicture | undefined;
  /** From the names of its folders. */
  readonly labels: readonly string[];
}

export function changedDocument(
  known: KnownPicture,
  { file, hash, analysis, stored, labels }: FileChange,
): FileDocument {
  const titles = { before: titleOf(known.path), now: titleOf(file.path) };
  const isRenamed = analysis === undefined && hash !== undefined && known.title === titles.before;
  const facts = analysis && updateOfFacts(stored?.fields ?? {}, toFields(analysis.facts ?? {}), titles);
  const former = labels.length > 0 ? folderLabels(known.path).filter((label) => !labels.includes(label)) : [];
  const removed = [...former, ...(facts?.formerLabels ?? [])];
  const added = [...labels, ...(facts?.newLabels ?? [])];
  return {
    ...existing(known),
    ...(hash === undefined ? {} : fieldsOfFile(file, hash)),
    // Makes it an update in any case.
    path: { set: file.path },
    ...(known.sidecars === file.sidecars ? {} : { file_sidecars: { set: file.sidecars ?? null } }),
    ...(isRenamed ? { title: titles.now } : {}),
    ...facts?.fields,
    ...(analysis === undefined || analysis.outputs === NO_OUTPUTS ? {} : fieldsOfPicture(analysis)),
    ...(removed.length + added.length > 0 ? { labels: { remove: removed, 'add-distinct': added } } : {}),
  };
}

/** An update that changes nothing if the document was deleted meanwhile; and it is not missing any more. */
export function existing(known: KnownPicture): FileDocument {
  return {
    id: known.id,
    _version_: 1,
    ...(known.isMissing ? { missing: { set: null } } : {}),
    ...(known.isOnMissingDrive ? { file_drive_missing: { set: null } } : {}),
  };
}

export function folderLabels(below: string): string[] {
  return below.normalize('NFC').split('/').slice(0, -1);
}

export function placeOfFile({ source, path, bytes }: Pick<Candidate, 'source' | 'path' | 'bytes'>, hash: number) {
  return { source, path, bytes, file_hash: hash } satisfies Record<keyof typeof PLACE_FIELDS, string | number>;
}

/** All fields that tell which file a document came from. */
export function fieldsOfFile(
  file: Pick<Candidate, 'source' | 'path' | 'bytes' | 'modified' | 'changed' | 'inode' | 'sidecars'>,
  hash: number,
) {
  const folder = path.posix.dirname(file.path.normalize('NFC'));
  return {
    folder: folder === '.' ? '/' : folder,
    ...placeOfFile(file, hash),
    modified: new Date(file.modified * 1_000).toISOString(),
    ...(file.changed === undefined ? {} : { file_changed: new Date(file.changed).toISOString() }),
    ...(file.inode === undefined ? {} : { file_inode: file.inode }),
    ...(file.sidecars === undefined ? {} : { file_sidecars: file.sidecars }),
  };
}

/** The outputs of an analysis without modules. */
const NO_OUTPUTS = '{}';

function fieldsOfPicture(analysis: Analysis) {
  return {
    width: analysis.width,
    height: analysis.height,
    import: analysis.outputs,
    ...(analysis.thumbnail ? { thumbnail: Buffer.from(analysis.thumbnail).toString('base64') } : {}),
  };
}

function titleOf(below: string): string {
  return titleOfFile(below.normalize('NFC'));
}
