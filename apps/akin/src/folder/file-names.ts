import path from 'node:path';

interface Placed {
  readonly place: string;
}

export function nameOf({ place }: Placed): string {
  return path.basename(place).normalize('NFC');
}

/** The same for places that differ only in case or in the form of their Unicode: many disks do not tell them apart. */
export function foldedPlace({ place }: Placed): string {
  return place.normalize('NFC').toLowerCase();
}

export function areRelated(one: Placed, other: Placed): boolean {
  return (
    path.dirname(one.place) === path.dirname(other.place) || nameOf(one).toLowerCase() === nameOf(other).toLowerCase()
  );
}

/** How many names two paths have in common at their ends. */
export function commonTail(one: string, other: string): number {
  const [a, b] = [one, other].map((place) => place.normalize('NFC').split(path.sep).reverse()) as [string[], string[]];
  const at = a.findIndex((name, i) => name !== b[i]);
  return at < 0 ? a.length : at;
}

/** Whether a file is named as editors name what they keep of a file that they change: `a.jpg_original`, `a (1).jpg`. */
export function isBackupOf(file: string, original: string): boolean {
  const { dir, name } = path.parse(original);
  const other = path.parse(file);
  return other.dir === dir && other.base.startsWith(name) && /^[^\p{L}\p{N}]/u.test(other.base.slice(name.length));
}
