import { promises as fs } from 'node:fs';

/** False also if there is nothing, or nothing may be seen. */
export function isFolder(path: string): Promise<boolean> {
  return fs.stat(path).then(
    (stat) => stat.isDirectory(),
    () => false,
  );
}
