/** Longer names are not compared, because the comparison takes quadratic time. */
const MAX_COMPARED = 128;

/**
 * Finds the candidate with the smallest edit distance to `name`, or one that differs only in case. Undefined if the
 * distance is too large for a typing error: more than a third of the length of `name`, and more than 1.
 */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  if (name.length > MAX_COMPARED) return undefined;
  let nearest: string | undefined;
  let fewest = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of names) {
    if (candidate.toLowerCase() === name.toLowerCase()) return candidate;
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const edits = editDistance(name, candidate);
    if (edits < fewest) {
      fewest = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

/**
 * Insertions, deletions, replacements and swaps of adjacent characters, in UTF-16 units of two short texts (Damerau
 * 1964).
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
