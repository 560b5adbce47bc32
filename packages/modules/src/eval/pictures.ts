import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface PictureFile {
  readonly file: string;
  /** The folder it lies in, when that is one of several: its class. */
  readonly label: string;
}

/** A sample of the files of a folder and those below it: spread evenly over the sorted paths, at most `sample`. */
export async function sampleFolder(folder: string, sample: number): Promise<PictureFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.(jpe?g|png|gif|webp|avif|tiff?)$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const count = Math.min(sample, files.length);
  return Array.from({ length: count }, (_, i) => {
    const file = files[Math.floor((i * files.length) / count)] as string;
    return { file, label: basename(dirname(file)) };
  });
}
