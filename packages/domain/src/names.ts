/** True for a name that a collection may have. */
export function isCollectionName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name);
}

/** What is wrong with the name of a new field, or null: 1 to 128 characters, none of them a control character. */
export function fieldNameProblem(name: string): string | null {
  if (name === '') return 'a field name must not be empty';
  if (/[\p{Cc}\u2028\u2029\p{Surrogate}]/u.test(name)) {
    return 'a field name must not hold control characters or halves of surrogate pairs';
  }
  // A character has at most two UTF-16 units: most names need not be counted.
  if (name.length > 128 && [...name.slice(0, 257)].length > 128) return 'a field name has at most 128 characters';
  return null;
}

/** Most shards of a collection: planning a search takes longer with each. */
export const MAX_SHARDS = 64;
