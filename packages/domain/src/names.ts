export function isCollectionName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name);
}

/**
 * Says what is wrong with the name of a new field, or returns null. A name has 1 to 128 characters, without control
 * characters.
 */
export function fieldNameProblem(name: string): string | null {
  if (name === '') return 'a field name must not be empty';
  if (/[\p{Cc}\u2028\u2029\p{Surrogate}]/u.test(name)) {
    return 'a field name must not contain control characters or halves of surrogate pairs';
  }
  // A character has at most two UTF-16 units, so most names do not need to be counted.
  if (name.length > 128 && [...name.slice(0, 257)].length > 128) return 'a field name has at most 128 characters';
  return null;
}

/** Maximum shards of a collection: each shard makes the planning of a search slower. */
export const MAX_SHARDS = 64;
