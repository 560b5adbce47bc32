import type { Collection } from '@akin/client';
import { askUser } from '../edits/ask-user.ts';
import type { Model } from '../model.ts';
import { dismissRun, updateRuns } from '../runs/watch-runs.ts';
import { TEXTS } from '../texts.ts';
import { addPictures } from './add-pictures.ts';
import { type DroppedFiles, isPicture, type LocalFile } from './files.ts';

const T = TEXTS.add;

/**
 * Indexes the pictures among the files. The page shows an error that affects all files; the run shows errors of single
 * files.
 *
 * @param options.unreadable how many files could not be read before
 * @returns false after an error that affects all files
 */
export async function addFiles(
  model: Model,
  files: readonly LocalFile[],
  { collection = model.collection, unreadable = 0 }: { collection?: Collection; unreadable?: number } = {},
): Promise<boolean> {
  const pictures = files.filter(isPicture);
  const notRead = unreadable > 0 ? T.unreadable(unreadable) : null;
  model.update({ error: pictures.length === 0 ? (notRead ?? T.none) : notRead });
  if (pictures.length === 0) return false;
  let isDone = true;
  try {
    await addPictures(collection, pictures, (run) => showRun(model, collection, run));
  } catch (error) {
    isDone = false;
    model.showError(error);
  }
  await updateRuns(model);
  return isDone;
}

/** Also a run that ends before it is asked for is shown. */
function showRun(model: Model, collection: Collection, run: string): void {
  const { runs } = model.pageData;
  if (collection.name === model.state.collection)
    model.update({ runs: { ...runs, seen: new Set([...runs.seen, run]) } });
  void updateRuns(model);
}

/** Indexes the failed files of a run of this page again. The run is removed if akin takes them. */
export async function addFilesAgain(model: Model, run: string, files: readonly LocalFile[]): Promise<void> {
  const mark = (retrying: ReadonlySet<string>) => model.update({ runs: { ...model.pageData.runs, retrying } });
  mark(new Set([...model.pageData.runs.retrying, run]));
  if (await addFiles(model, files)) await dismissRun(model, run);
  mark(new Set([...model.pageData.runs.retrying].filter((one) => one !== run)));
}

/** Asks before files are indexed that were dropped onto existing pictures, because that may be a mistake. */
export async function askToAdd(model: Model, { files, unreadable }: DroppedFiles): Promise<void> {
  const { collection } = model;
  const { status } = model.pageData;
  const pictures = files.filter(isPicture).length;
  const isMeant =
    pictures === 0 ||
    status?.documents === 0 ||
    (await askUser({ title: T.title(pictures), text: T.text(collection.name), action: T.add })) !== null;
  if (isMeant) await addFiles(model, files, { collection, unreadable });
}
