import { readFile } from 'node:fs/promises';
import { badRequest, roundToHalves } from '@akin/domain';
import { decodeImage } from '@akin/imaging';
import { MIN_SIDE } from '../analyzer/analyze-image.ts';
import { fitCalibration, NON_MATCHING_SCORES } from '../learn/calibration.ts';
import { listFiles } from '../learn/list-files.ts';
import { toRows } from '../learn/rows.ts';
import { fewerFiles } from '../learn/sample-folder.ts';
import type { Picture } from '../picture/picture.ts';
import { distance, unitOf } from '../vectors/unit.ts';
import { openPictures } from './content.ts';
import { readModelFolder } from './files.ts';

export interface TrainingInput {
  readonly folder: string;
  readonly pictures: string;
}

export interface TrainingListener {
  readonly progress: (done: number, all: number) => void;
  readonly skip: (file: string, reason: string) => void;
}

export interface TrainingResult {
  /** The text of the file for the folder of the model. */
  readonly calibration: string;
  readonly model: string;
  readonly pictures: number;
}

/** With fewer pictures, the distances of non-matching pairs would be unreliable. */
const MIN_PICTURES = 100;
/** Pairs of more pictures change the calibration by less than 0.01. */
const MAX_MEASURED = 2000;
/** Unit vectors nearer than this differ only by rounding. */
const MIN_DIFFERENCE = 1e-4;

/**
 * Does the work of {@link trainContentModel} without writing the file, in the calling thread, which it blocks for
 * minutes: measures the distances between two pictures of the folder. The model itself is used unchanged.
 *
 * @throws {AkinError} bad-request when the model cannot be opened, or there are too few pictures
 */
export async function measure(
  { folder, pictures }: TrainingInput,
  listener: TrainingListener,
): Promise<TrainingResult> {
  const model = readModelFolder(folder);
  const run = await openPictures(model);
  const paths = fewerFiles(MAX_MEASURED, await filesOf(pictures));
  const numbers = await featuresOf(run, paths, listener);
  checkNumbers(numbers, pictures, folder);
  const vectors = toRows(numbers.map(roundToHalves), model.config.dimensions);
  const calibration = fitCalibration(vectors, NON_MATCHING_SCORES);
  const measured = { model: model.id, pictures: numbers.length };
  return { ...measured, calibration: `${JSON.stringify({ ...measured, calibration })}\n` };
}

async function filesOf(pictures: string): Promise<string[]> {
  return listFiles(pictures).catch((cause) => {
    throw badRequest(`${pictures} is not a folder of pictures.`, { cause });
  });
}

async function featuresOf(
  run: (picture: Pick<Picture, 'pixelsOf'>) => Promise<Float32Array>,
  paths: readonly string[],
  { progress, skip }: TrainingListener,
): Promise<Float32Array[]> {
  const found: Float32Array[] = [];
  for (const [i, path] of paths.entries()) {
    try {
      const bytes = await readFile(path);
      // Fails for what an analysis would refuse.
      await decodeImage(bytes, { minSide: MIN_SIDE });
      const pixelsOf = async (minSide: number) => (await decodeImage(bytes, { minSide })).pixels;
      found.push(unitOf(await run({ pixelsOf })));
    } catch (error) {
      skip(path, (error as Error).message);
    }
    progress(i + 1, paths.length);
  }
  return found;
}

/** @throws AkinError when the outputs are too few or too similar to learn from */
function checkNumbers(numbers: readonly Float32Array[], pictures: string, folder: string): void {
  if (numbers.length < MIN_PICTURES) {
    throw badRequest(
      `${pictures} contains ${numbers.length} pictures that the model can read. The calibration needs at least ${MIN_PICTURES}, better some thousands, of the kind that will be searched.`,
    );
  }
  if (numbers.every((one) => distance(one, numbers[0] as Float32Array) < MIN_DIFFERENCE)) {
    throw badRequest(
      `The model in ${folder} gives the same vector for all ${numbers.length} pictures, so it cannot rank them.`,
    );
  }
}
