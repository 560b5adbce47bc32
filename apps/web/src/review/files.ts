import type { FoundDocument, FoundGroup } from '@akin/client';
import { isMissing, pathOf } from '../file-path.ts';
import { bestOf } from './keep.ts';

/**
 * What tells that two documents name one file, if they have one of these texts in common: its path (a folder, and a
 * folder inside of it, were indexed), or its number on the disk, which links share. Numbers are unique only on one disk.
 */
function fileKeys(document: FoundDocument): string[] {
  const { file_inode: inode, file_hash: hash, bytes } = document;
  const isNumbered = inode !== undefined && hash !== undefined && bytes !== undefined;
  return [pathOf(document) ?? [], isNumbered ? `${inode} ${hash} ${bytes}` : []].flat();
}

/** The documents without those that name the file of an earlier one. */
function distinctFiles(documents: readonly FoundDocument[]): FoundDocument[] {
  const seen = new Set<string>();
  return documents.filter((document) => {
    const keys = fileKeys(document);
    const isNew = !keys.some((key) => seen.has(key));
    for (const key of keys) seen.add(key);
    return isNew;
  });
}

/**
 * The paths of marked members, for somebody who deletes these files. A file stays out if it is also the file of a
 * member that is not marked; and of a group that would lose all its files, the best one stays out. A member whose file
 * is gone saves none.
 *
 * @param groups the shown members of each group
 */
export function pathsToDelete(
  groups: readonly (readonly FoundDocument[])[],
  marked: ReadonlySet<string>,
): { readonly paths: readonly string[]; readonly left: number } {
  const isThere = (one: FoundDocument) => pathOf(one) !== undefined && !isMissing(one);
  const kept = new Set(groups.flat().flatMap((one) => (isThere(one) && !marked.has(one.id) ? fileKeys(one) : [])));
  const isKept = (one: FoundDocument) => fileKeys(one).some((key) => kept.has(key));
  for (const members of groups) {
    const files = members.filter(isThere);
    const best = files.some(isKept) ? undefined : bestOf(files);
    if (best) for (const key of fileKeys(best)) kept.add(key);
  }
  const wanted = groups.flat().filter((one) => isThere(one) && marked.has(one.id));
  const paths = distinctFiles(wanted.filter((one) => !isKept(one))).flatMap((one) => pathOf(one) ?? []);
  return { paths, left: wanted.length - paths.length };
}

/** Members with at least this score, in the order of their scores, after the representative. */
export function membersAbove(group: FoundGroup, minScore: number): FoundDocument[] {
  return group.members.filter(({ id, score }) => id === group.representative || (score ?? 1) >= minScore);
}

/** The marked ids that are still shown with at least this score: nobody should delete what they do not see. */
export function visibleMarks(
  marked: ReadonlySet<string>,
  groups: readonly FoundGroup[],
  minScore: number,
): Set<string> {
  const shown = groups.map((group) => membersAbove(group, minScore)).filter(({ length }) => length > 1);
  const ids = new Set(shown.flat().map(({ id }) => id));
  return new Set([...marked].filter((id) => ids.has(id)));
}
