import path from 'node:path';
import { glob } from 'tinyglobby';

/**
 * The files that match a glob, sorted, and the folder before its first wildcard, to which ids are relative. For
 * `/home/me/Pictures/2024-*.jpg` it is `/home/me/Pictures`.
 */
export async function findMatches(pattern: string): Promise<{ base: string; files: string[] }> {
  const parts = pattern.split(path.sep === '/' ? '/' : /[\\/]/);
  const firstWild = parts.findIndex((part) => /[*?[\]{}]/.test(part));
  const base = path.resolve(parts.slice(0, firstWild).join('/') || (pattern.startsWith('/') ? '/' : '.'));
  const files = await glob(parts.slice(firstWild).join('/'), { cwd: base, absolute: true, onlyFiles: true });
  return { base, files: files.sort() };
}
