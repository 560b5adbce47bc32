import type { FoundDocument } from '@akin/client';
import { folderPathOf, isMissing } from '../file-path.ts';
import { FORMATS, formatOf, isRaw } from './facts.ts';

/**
 * The rule that selects the picture to keep. `folder:` with the path of a folder keeps all pictures in it, and chooses
 * nothing in a group that has none there.
 */
export type KeepRule = 'best' | 'largest' | 'oldest' | 'format' | 'first' | 'all' | `folder:${string}`;

/**
 * The ids of a group's members to delete by a rule. In a tie the first member is kept. A RAW is deleted only if another
 * RAW is kept: its facts are those of the preview inside. The RAW and the JPEG of one shot are kept together. A picture
 * whose file is missing is neither kept in place of one whose file is there, nor deleted: the file may come back.
 */
export function idsToDelete(members: readonly FoundDocument[], rule: KeepRule): string[] {
  const kept = keptBy(rule, members);
  if (kept.length === 0) return [];
  const keepsRaw = kept.some(isRaw);
  const isKept = (one: FoundDocument) => kept.some((other) => other === one || isPair(one, other));
  return members.filter((one) => !isMissing(one) && !isKept(one) && (keepsRaw || !isRaw(one))).map(({ id }) => id);
}

/** Whether two files are of one shot: the same path up to the ending, and one of them is a RAW. */
function isPair(one: FoundDocument, other: FoundDocument): boolean {
  const shot = ({ id, path }: FoundDocument) =>
    String(path ?? id)
      .replace(/\.[^./]+$/, '')
      .toLowerCase();
  const isSamePlace = one.source === other.source && shot(one) === shot(other);
  return isSamePlace && isRaw(one) !== isRaw(other);
}

const MAX_FOLDERS = 12;

/** The folders to keep by, those of most documents first; none if all documents are in one folder. */
export function foldersOf(documents: readonly FoundDocument[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const document of documents) {
    const folder = folderPathOf(document);
    if (folder !== undefined) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  if (counts.size < 2) return [];
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([folder]) => folder)
    .slice(0, MAX_FOLDERS);
}

/** The member that is most probably the original of all the others. */
export function bestOf(all: readonly FoundDocument[]): FoundDocument | undefined {
  const members = presentOf(all);
  const originals = members.filter((one) => !members.some((other) => isEditOf(one, other)));
  return first(originals, (one) => [
    Number(isRaw(one)),
    pixelsOf(one),
    cameraFacts(one),
    -(changedOf(one) ?? Number.MAX_VALUE),
    Number(one.bytes ?? 0),
  ]);
}

/** Those whose files are there, if there are any. */
function presentOf(all: readonly FoundDocument[]): readonly FoundDocument[] {
  const there = all.filter((one) => !isMissing(one));
  return there.length > 0 ? there : all;
}

function keptBy(rule: KeepRule, all: readonly FoundDocument[]): readonly FoundDocument[] {
  if (rule === 'all') return all;
  const members = presentOf(all);
  if (rule.startsWith('folder:')) return members.filter((one) => folderPathOf(one) === rule.slice('folder:'.length));
  const kept = rule === 'best' ? bestOf(members) : first(members, MEASURES[rule as keyof typeof MEASURES]);
  return kept ? [kept] : [];
}

/** What the rules compare, the most important number first; the greatest is kept. */
const MEASURES = {
  first: () => [],
  largest: (one: FoundDocument) => [Number(isRaw(one)), pixelsOf(one), Number(one.bytes ?? 0)],
  oldest: (one: FoundDocument) => [-(takenOf(one) ?? Number.MAX_VALUE)],
  format: (one: FoundDocument) => [-rankOf(one), pixelsOf(one), Number(one.bytes ?? 0)],
};

const DAY = 86_400_000;
/** A larger version has less detail if it has less than this share of the bytes for each pixel. */
const LESS_DETAIL = 0.85;
/** Sides are rounded when a picture is scaled. */
const SAME_SHAPE = 0.02;

/**
 * Whether a picture with more pixels than another one is an enlarged or bordered edit of it. It needs two signs, of
 * which one is its age or what the camera wrote: a reduced or cropped copy differs from its original in the same ways,
 * except that it is the younger one. Times within a day mean nothing, because a copied folder gets them all at once.
 */
function isEditOf(one: FoundDocument, other: FoundDocument): boolean {
  if (pixelsOf(one) <= pixelsOf(other) || pixelsOf(other) === 0 || isRaw(one)) return false;
  const age = (changedOf(one) ?? 0) - (changedOf(other) ?? 0);
  const isDated = changedOf(one) !== undefined && changedOf(other) !== undefined;
  const isYounger = isDated && age > DAY;
  const lacksCamera = cameraFacts(one) < cameraFacts(other);
  if ((isDated && age < -DAY) || cameraFacts(one) > cameraFacts(other)) return false;
  // The time of a file is often that of its last tag or download: what the camera wrote says more.
  if (!lacksCamera && (!isYounger || cameraFacts(one) > 0)) return false;
  const isCoarser = formatOf(one) === formatOf(other) && detailOf(one) < LESS_DETAIL * detailOf(other);
  const isOfOtherShape = Math.abs(shapeOf(one) / shapeOf(other) - 1) > SAME_SHAPE;
  return [isYounger, lacksCamera, isCoarser, isOfOtherShape].filter(Boolean).length >= 2;
}

/** The first of those with the greatest numbers. */
function first(
  members: readonly FoundDocument[],
  measure: (member: FoundDocument) => readonly number[],
): FoundDocument | undefined {
  const [one, ...others] = members;
  return one && others.reduce((best, next) => (compare(measure(next), measure(best)) > 0 ? next : best), one);
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
}

function rankOf(document: FoundDocument): number {
  const rank = FORMATS.indexOf(formatOf(document));
  return rank < 0 ? FORMATS.length : rank;
}

function pixelsOf({ width, height }: FoundDocument): number {
  return Number(width ?? 0) * Number(height ?? 0);
}

function detailOf(document: FoundDocument): number {
  return Number(document.bytes ?? 0) / pixelsOf(document);
}

/** The long side by the short one: the same for a picture that was turned. */
function shapeOf({ width, height }: FoundDocument): number {
  const [a, b] = [Number(width), Number(height)];
  return Math.max(a, b) / Math.min(a, b);
}

/** How much of what cameras write the file has: most programs that edit or send pictures lose it. */
function cameraFacts({ taken, camera, location }: FoundDocument): number {
  return [taken, camera, location].filter((fact) => typeof fact === 'string').length;
}

function changedOf({ modified }: FoundDocument): number | undefined {
  return typeof modified === 'string' ? Date.parse(modified) : undefined;
}

function takenOf({ taken, modified }: FoundDocument): number | undefined {
  const date = [taken, modified].find((one) => typeof one === 'string');
  return typeof date === 'string' ? Date.parse(date) : undefined;
}
