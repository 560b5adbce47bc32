import path from 'node:path';
import { titleOfFile } from '@akin/domain';
import { toFields } from '@akin/imaging';
import type { Analysis } from '@akin/modules/analyze';
import type { KnownPicture } from './known-files.ts';
import type { Candidate } from './walk.ts';

/*
 * Documents of files. Only a file that has no document yet gives a whole document. All others are atomic updates of the
 * fields that the file owns: what people added to the document stays.
 */

/** A document, or an atomic update of one. */
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
  return {
    id,
    title: titleOf(file.path),
    ...fieldsOfFile(file, hash),
    ...fieldsOfPicture(analysis),
    ...(labels.length > 0 ? { labels } : {}),
  };
}

/** The update for a file with another content. A value that the file no longer gives may be of a person, and stays. */
export function editedDocument(
  known: KnownPicture,
  file: Candidate,
  hash: number,
  analysis: Analysis,
  labels: readonly string[],
): FileDocument {
  const update = movedDocument(known, file, hash, labels);
  const keywords = analysis.facts?.keywords ?? [];
  return {
    ...update,
    ...fieldsOfPicture(analysis),
    ...(keywords.length > 0
      ? { labels: { ...(update.labels as object), 'add-distinct': [...labels, ...keywords] } }
      : {}),
  };
}

/** The update for a file with the same content at another place, or with other times. */
export function movedDocument(
  known: KnownPicture,
  file: Candidate,
  hash: number,
  labels: readonly string[],
): FileDocument {
  const former = labels.length > 0 ? folderLabels(known.path).filter((label) => !labels.includes(label)) : [];
  return {
    ...existing(known),
    ...fieldsOfFile(file, hash),
    // Makes it an update in any case.
    path: { set: file.path },
    ...(known.title === titleOf(known.path) ? { title: titleOf(file.path) } : {}),
    ...(labels.length > 0 ? { labels: { remove: former, 'add-distinct': labels } } : {}),
  };
}

/** An update that changes nothing if the document was deleted meanwhile; and it is not missing any more. */
export function existing(known: KnownPicture): FileDocument {
  return { id: known.id, _version_: 1, ...(known.isMissing ? { missing: { set: null } } : {}) };
}

export function folderLabels(below: string): string[] {
  return below.normalize('NFC').split('/').slice(0, -1);
}

/** The fields of a document that tell which file it came from. */
export function fieldsOfFile(file: Candidate, hash: number) {
  const folder = path.posix.dirname(file.path.normalize('NFC'));
  return {
    folder: folder === '.' ? '/' : folder,
    source: file.source,
    path: file.path,
    bytes: file.bytes,
    modified: new Date(file.modified * 1_000).toISOString(),
    file_hash: hash,
    ...(file.changed === undefined ? {} : { file_changed: new Date(file.changed).toISOString() }),
    ...(file.inode === undefined ? {} : { file_inode: file.inode }),
  };
}

function fieldsOfPicture(analysis: Analysis) {
  return {
    width: analysis.width,
    height: analysis.height,
    ...toFields(analysis.facts ?? {}),
    import: analysis.outputs,
    ...(analysis.thumbnail ? { thumbnail: Buffer.from(analysis.thumbnail).toString('base64') } : {}),
  };
}

function titleOf(below: string): string {
  return titleOfFile(below.normalize('NFC'));
}
