import path from 'node:path';
import { glob } from 'tinyglobby';

/**
 * The files that match a glob, sorted, and the folder before its first wildcard, to which ids are relative. For
 * `/home/me/Pictures/2024-*.jpg` it is `/home/me/Pictures`.
 */
export async function findMatches(pattern: string): Promise<{ base: string; files: string[] }> {
  const { parts, firstWild } = split(pattern);
  const base = baseOf(pattern);
  const files = await glob(parts.slice(firstWild).join('/'), { cwd: base, absolute: true, onlyFiles: true });
  return { base, files: files.sort() };
}

/** The folder before the first wildcard, absolute. */
export function baseOf(pattern: string): string {
  const { parts, firstWild } = split(pattern);
  return path.resolve(parts.slice(0, firstWild).join('/') || (pattern.startsWith('/') ? '/' : '.'));
}

function split(pattern: string): { readonly parts: readonly string[]; readonly firstWild: number } {
  const parts = pattern.split(path.sep === '/' ? '/' : /[\\/]/);
  return { parts, firstWild: parts.findIndex((part) => /[*?[\]{}]/.test(part)) };
}
