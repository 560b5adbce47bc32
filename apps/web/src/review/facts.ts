import type { FoundDocument, FoundGroup } from '@akin/client';
import { bytes, day, number } from '../format.ts';

/** The rule that selects the picture to keep. */
export type KeepRule = 'first' | 'largest' | 'oldest' | 'format' | 'all';

/** Formats by image quality, best first. */
const FORMATS = ['TIFF', 'PNG', 'AVIF', 'JPEG', 'WEBP', 'GIF'];
const ALIASES: Readonly<Record<string, string>> = { JPG: 'JPEG', JPE: 'JPEG', JFIF: 'JPEG', TIF: 'TIFF' };

/** The format by the file name extension; empty if there is none. */
export function formatOf({ id, image }: FoundDocument): string {
  const name = typeof image === 'string' ? image.replace(/[?#].*$/s, '') : id;
  const ending = (/\.([a-z]{3,4})$/i.exec(name)?.[1] ?? '').toUpperCase();
  const format = ALIASES[ending] ?? ending;
  return FORMATS.includes(format) ? format : '';
}

/** Differences between copies, one a line: dimensions, file size and format, date, folder. */
export function factLines(document: FoundDocument): string[] {
  const { width, height, bytes: size, folder } = document;
  const date = dateOf(document);
  return [
    [typeof width === 'number' && typeof height === 'number' ? `${number(width)} × ${number(height)}` : ''],
    [typeof size === 'number' ? bytes(size) : '', formatOf(document)],
    [date === undefined ? '' : day(date)],
    [typeof folder === 'string' ? folder : ''],
  ].flatMap((parts) => parts.filter(Boolean).join(' · ') || []);
}

/** The ids of a group's members to delete when one is kept; none for `all`. In a tie the first member is kept. */
export function idsToDelete(members: readonly FoundDocument[], keep: KeepRule): string[] {
  if (keep === 'all') return [];
  const [first, ...others] = members;
  if (first === undefined) return [];
  const kept = others.reduce((best, one) => (isBetter(one, best, keep) ? one : best), first);
  return members.filter((member) => member !== kept).map(({ id }) => id);
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

function isBetter(one: FoundDocument, best: FoundDocument, keep: KeepRule): boolean {
  if (keep === 'largest') return compare(sizeOf(one), sizeOf(best)) > 0;
  if (keep === 'format') {
    const rank = compare([-rankOf(one)], [-rankOf(best)]);
    return rank > 0 || (rank === 0 && compare(sizeOf(one), sizeOf(best)) > 0);
  }
  if (keep === 'oldest') return (dateOf(one) ?? '9') < (dateOf(best) ?? '9');
  return false;
}

function rankOf(document: FoundDocument): number {
  const rank = FORMATS.indexOf(formatOf(document));
  return rank < 0 ? FORMATS.length : rank;
}

function sizeOf({ width, height, bytes: size }: FoundDocument): number[] {
  return [Number(width ?? 0) * Number(height ?? 0), Number(size ?? 0)];
}

function dateOf({ taken, modified }: FoundDocument): string | undefined {
  return [taken, modified].find((date) => typeof date === 'string') as string | undefined;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
}
