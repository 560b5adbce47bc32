import type { Collection } from '@akin/client';
import { ask } from '../ask.ts';
import type { Model } from '../model.ts';
import { updateRuns } from '../runs/watch-runs.ts';
import { TEXTS } from '../texts.ts';
import { addPictures } from './add-pictures.ts';
import { type DroppedFiles, isPicture, type LocalFile } from './files.ts';

const T = TEXTS.add;

/**
 * Indexes the pictures among the files. The page shows an error that affects all files; the run shows errors of single
 * files.
 *
 * @param options.unreadable how many files could not be read before
 */
export async function addFiles(
  model: Model,
  files: readonly LocalFile[],
  { collection = model.collection, unreadable = 0 }: { collection?: Collection; unreadable?: number } = {},
): Promise<void> {
  const pictures = files.filter(isPicture);
  const error = unreadable > 0 ? T.unreadable(unreadable) : null;
  if (pictures.length === 0) return model.update({ error: error ?? T.none });
  model.update({ error });
  try {
    const adding = addPictures(collection, pictures);
    // Show the progress bar soon.
    setTimeout(() => void updateRuns(model), 200);
    await adding;
  } catch (error) {
    model.showError(error);
  }
  await updateRuns(model);
}

/** Asks before files are indexed that were dropped onto existing pictures, because that may be a mistake. */
export async function askToAdd(model: Model, { files, unreadable }: DroppedFiles): Promise<void> {
  const { collection } = model;
  const { status } = model.shown;
  const pictures = files.filter(isPicture).length;
  const isMeant =
    pictures === 0 ||
    status?.documents === 0 ||
    (await ask({ title: T.title(pictures), text: T.text(collection.name), action: T.add })) !== null;
  if (isMeant) await addFiles(model, files, { collection, unreadable });
}
