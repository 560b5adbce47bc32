import { promises as fs } from 'node:fs';

/** What is mounted at folders, as text that changes with it. Empty on systems other than Linux. */
export async function readMounts(isWatched: (folder: string) => boolean): Promise<string> {
  return mountsAt(await fs.readFile('/proc/self/mountinfo', 'utf8').catch(() => ''), isWatched);
}

/** @param table as in `/proc/self/mountinfo`: a mount on each line, the fifth field is its folder */
export function mountsAt(table: string, isWatched: (folder: string) => boolean): string {
  const folderOf = (line: string) =>
    (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
  return table
    .split('\n')
    .filter((line) => isWatched(folderOf(line)))
    .join('\n');
}
