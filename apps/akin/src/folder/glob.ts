import path from 'node:path';
import { glob } from 'tinyglobby';

/**
 * The files that match a glob, and the folder before its first wildcard, below which ids count.
 * `~/Pictures/**` + `/*.jpg` has the base `~/Pictures`.
 */
export function globStream(pattern: string): { base: string; files: AsyncIterable<string> } {
  const parts = pattern.split(/[\\/]/);
  const firstWild = parts.findIndex((part) => /[*?[\]{}]/.test(part));
  const base = path.resolve(parts.slice(0, firstWild).join('/') || (pattern.startsWith('/') ? '/' : '.'));
  const rest = parts.slice(firstWild).join('/');
  return { base, files: matches(rest, base) };
}

async function* matches(pattern: string, base: string): AsyncGenerator<string> {
  const found = await glob(pattern, { cwd: base, absolute: true, onlyFiles: true });
  yield* found.sort();
}
