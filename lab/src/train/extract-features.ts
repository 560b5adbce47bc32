import { readFile } from 'node:fs/promises';
import { decodeImage, type Pixels } from '@akin/imaging';
import { MIN_SIDE, sharedNetworks } from '@akin/modules/internal/analyzer/analyze-image';
import { copyFeaturesOf } from '@akin/modules/internal/duplicate/features';
import { evenIndexes } from '@akin/modules/internal/learn/sample-folder';
import type { Backend } from '@akin/modules/internal/network/backend';
import { type Picture, preparePicture } from '@akin/modules/internal/picture/picture';
import { readBitmap } from '../eval/bitmap.ts';
import { makeEdits } from '../eval/edits.ts';

/** Long side of pictures that are edited, in pixels. */
const LONG_SIDE = 320;

/**
 * The features of the pictures among some files, by file, in order. Prints the progress, and which files are skipped
 * because they cannot be read.
 */
export async function extractFeatures<T>(
  files: readonly string[],
  backend: Backend,
  see: (picture: Picture, bytes: Uint8Array, file: string) => Promise<T>,
): Promise<Map<string, T>> {
  const seen = new Map<string, T>();
  for (const [i, file] of files.entries()) {
    try {
      const bytes = await readFile(file);
      seen.set(file, await see(await prepare(bytes, backend), bytes, file));
    } catch (error) {
      console.warn(`${file}: ${error instanceof Error ? error.message : error}`);
    }
    if ((i + 1) % 100 === 0) console.log(`${i + 1} of ${files.length} pictures`);
  }
  return seen;
}

/**
 * The patterns (`copyFeaturesOf`) of pictures and of their edits, and the differences between an edit and its picture.
 *
 * @param files Readable pictures.
 * @param most Maximum number of pictures to edit, evenly spaced.
 */
export async function extractFeaturesOfEdits(
  files: readonly string[],
  most: number,
  backend: Backend,
): Promise<{ patterns: Float64Array[]; changes: Float64Array[] }> {
  const indexes = new Map(evenIndexes(most, files.length).map((index) => [files[index] as string, index]));
  const seen = await extractFeatures([...indexes.keys()], backend, async (picture, bytes, file) => {
    const bitmap = await readBitmap(bytes, LONG_SIDE);
    const original = patternIn(picture);
    const patterns = [original];
    for (const edited of await makeEdits(bitmap, bitmap, indexes.get(file) as number)) {
      patterns.push(patternIn(await prepare(edited, backend)));
    }
    const changes = patterns.slice(1).map((pattern) => pattern.map((value, k) => value - (original[k] as number)));
    return { patterns, changes };
  });
  const all = [...seen.values()];
  return { patterns: all.flatMap(({ patterns }) => patterns), changes: all.flatMap(({ changes }) => changes) };
}

async function prepare(bytes: Uint8Array, backend: Backend): Promise<Picture> {
  const { pixels } = await decodeImage(bytes, { minSide: MIN_SIDE });
  return preparePicture(pixels, sharedNetworks(backend));
}

/** The pattern of the first content crop, which every picture has. */
function patternIn(picture: Picture): Float64Array {
  return copyFeaturesOf(picture.contentCrops()[0] as Pixels).pattern;
}
