import { readFile } from 'node:fs/promises';
import { evenIndexes } from '@akin/modules/internal/learn/sample-folder';
import type { PictureFile } from '../learn/picture-files.ts';
import { readBitmap } from './bitmap.ts';
import type { Edited } from './copies.ts';
import type { Describe, Described } from './describe.ts';
import { EDITS, makeEdits } from './edits.ts';

/** Long side of the pictures that are edited. */
const EDIT_SIDE = 640;

/** Describes the edits of one in every few pictures, in the order of {@link EDITS}. */
export async function describeEdits(
  pictures: readonly PictureFile[],
  most: number,
  describe: Describe,
  progress: (done: number, all: number) => void,
): Promise<Edited[]> {
  const edited: Edited[] = [];
  const asked = evenIndexes(most, pictures.length);
  for (const [i, picture] of asked.entries()) {
    const other = (picture + 1) % pictures.length;
    const images = await editsOf(pictures, picture, other, i + 1);
    const edits: { name: string; vectors: Described['vectors'] }[] = [];
    for (const [k, bytes] of images.entries()) {
      edits.push({ name: EDITS[k]?.name as string, vectors: (await describe(bytes)).vectors });
    }
    edited.push({ picture, other, seed: i + 1, edits });
    progress(i + 1, asked.length);
  }
  return edited;
}

/** The files of the edits of a picture, in the order of `edits`. */
export async function editsOf(
  pictures: readonly PictureFile[],
  picture: number,
  other: number,
  seed: number,
  edits = EDITS,
): Promise<Buffer[]> {
  const read = async (index: number) => readBitmap(await readFile(pictures[index]?.file as string), EDIT_SIDE);
  return makeEdits(await read(picture), await read(other), seed, edits);
}
