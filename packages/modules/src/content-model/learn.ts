import { readFile } from 'node:fs/promises';
import { AkinError, roundToHalves } from '@akin/domain';
import { decodeImage } from '@akin/imaging';
import { MIN_SIDE } from '../analyzer/analyze-image.ts';
import { fitCalibration, NON_MATCHING_SCORES } from '../learn/calibration.ts';
import { analyzeClasses, classFolders } from '../learn/class-folders.ts';
import { trainCodebook } from '../learn/codebook.ts';
import { toRows } from '../learn/linear.ts';
import { listFiles } from '../learn/list-files.ts';
import { fewerFiles } from '../learn/sample-folder.ts';
import { openPictures } from '../model-folder/content.ts';
import { CALIBRATION_FILE, isModelFolder, readModelFolder } from '../model-folder/files.ts';
import type { Backend } from '../network/backend.ts';
import type { Picture } from '../picture.ts';
import { descriptorOf } from '../vectors/codebook.ts';
import { distance } from '../vectors/unit.ts';
import { readAxes, trainAxes, unitOf } from './axes.ts';
import { AXES_FILE, CODEBOOK_FILE, modelId, readModelFiles } from './files.ts';
import { openModel } from './run-model.ts';

export interface TrainingInput {
  /** Folder of the model. */
  readonly folder: string;
  /** Folder of typical pictures; subfolders are included. */
  readonly pictures: string;
  /** A folder with a subfolder for each class of pictures: differences within a class will count less. */
  readonly classes?: string | undefined;
  readonly backend?: Backend | undefined;
}

/** Receives the progress. */
export interface TrainingListener {
  readonly progress: (done: number, all: number) => void;
  /** Called for each file that is not a picture. */
  readonly skip: (file: string, reason: string) => void;
}

/** The files of a training, and the model name that outputs will have. */
export interface TrainingResult {
  /** By name, to write into the folder of the model. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly model: string;
  /** Number of pictures used. */
  readonly pictures: number;
  readonly classes: number;
}

/** With fewer pictures, the axes and the distances of non-matching pairs would be unreliable. */
const MIN_PICTURES = 100;
/** More pictures hardly improve the result; a sample of the whole folder is used. */
const MAX_PICTURES = 10_000;
/** Pairs of more pictures change the calibration by less than 0.01. */
const MAX_MEASURED = 2000;
const SEED = 1;
/** Unit vectors nearer than this differ only by rounding. */
const MIN_DIFFERENCE = 1e-4;

/**
 * Does the work of {@link trainContentModel} without writing files, in the calling thread, which it blocks for minutes.
 *
 * @throws {AkinError} bad-request when the model cannot be opened, there are too few pictures, or classes were
 * requested but none exists.
 */
export async function train(input: TrainingInput, listener: TrainingListener): Promise<TrainingResult> {
  const { folder, pictures, classes, backend } = input;
  if (isModelFolder(folder)) return measure(input, listener);
  const { dimensions } = descriptorOf('content');
  const modelFiles = await readModelFiles(folder);
  const run = await openModel(folder, modelFiles, backend ?? 'wasm');
  const paths = await filesOf(pictures);
  const pathsOfClasses = classes === undefined ? [] : await classFolders(classes).catch(badRequest);
  const taken = fewerFiles(MAX_PICTURES, paths);
  const numbersOf = createFeatureExtractor(
    (picture) => run(picture.pixels),
    new Set([...taken, ...pathsOfClasses.flat()]).size,
    listener,
  );
  const numbers = await numbersOf(taken);
  checkNumbers(numbers, pictures, folder);
  const numbersOfClasses =
    classes === undefined ? [] : await analyzeClasses(classes, pathsOfClasses, numbersOf).catch(badRequest);
  const toRowsOf = (members: readonly Float32Array[]) => toRows(members, (numbers[0] as Float32Array).length);
  const axesFile = trainAxes(toRowsOf(numbers), dimensions, numbersOfClasses.map(toRowsOf));
  const axes = readAxes(axesFile, dimensions, AXES_FILE);
  const vectors = toRows(
    numbers.map((one) => roundToHalves(axes.describe(one))),
    dimensions,
  );
  const model = modelId(modelFiles, axesFile);
  const codebook = trainCodebook({ module: 'content', model, vectors, seed: SEED });
  const files = new Map([
    [AXES_FILE, axesFile],
    [CODEBOOK_FILE, codebook],
  ]);
  return { files, model, pictures: numbers.length, classes: numbersOfClasses.length };
}

async function filesOf(pictures: string): Promise<string[]> {
  return listFiles(pictures).catch((cause) => {
    throw new AkinError('bad-request', `${pictures} is not a folder of pictures.`, { cause });
  });
}

/**
 * A model in the layout of Hugging Face is used unchanged. Only the distances between two pictures of the folder are
 * measured, to calibrate the scores.
 */
async function measure(
  { folder, pictures, classes }: TrainingInput,
  listener: TrainingListener,
): Promise<TrainingResult> {
  if (classes !== undefined) {
    throw new AkinError(
      'bad-request',
      `The model in ${folder} is used without training, so --classes has no effect: leave it out.`,
    );
  }
  const model = readModelFolder(folder);
  const run = await openPictures(model);
  const paths = fewerFiles(MAX_MEASURED, await filesOf(pictures));
  const numbers = await createFeatureExtractor(run, paths.length, listener)(paths);
  checkNumbers(numbers, pictures, folder);
  const vectors = toRows(numbers.map(roundToHalves), model.config.dimensions);
  const calibration = fitCalibration(vectors, NON_MATCHING_SCORES);
  const json = JSON.stringify({ model: model.id, pictures: numbers.length, calibration });
  return {
    files: new Map([[CALIBRATION_FILE, Buffer.from(`${json}\n`)]]),
    model: model.id,
    pictures: numbers.length,
    classes: 0,
  };
}

/**
 * Runs the model on files. Each file is analyzed once, even if it is requested again; files that are not pictures are
 * skipped.
 */
function createFeatureExtractor(
  run: (picture: Pick<Picture, 'pixels' | 'pixelsOf'>) => Float32Array | Promise<Float32Array>,
  all: number,
  { progress, skip }: TrainingListener,
): (paths: readonly string[]) => Promise<Float32Array[]> {
  const seen = new Map<string, Float32Array | undefined>();
  const see = async (path: string) => {
    try {
      const bytes = await readFile(path);
      const { pixels } = await decodeImage(bytes, { minSide: MIN_SIDE });
      const pixelsOf = async (minSide: number) => (await decodeImage(bytes, { minSide })).pixels;
      return unitOf(await run({ pixels, pixelsOf }));
    } catch (error) {
      skip(path, (error as Error).message);
      return undefined;
    }
  };
  return async (paths) => {
    for (const path of paths) {
      if (seen.has(path)) continue;
      seen.set(path, await see(path));
      progress(seen.size, all);
    }
    return paths.flatMap((path) => seen.get(path) ?? []);
  };
}

/** @throws AkinError when the outputs are too few or too similar to learn from */
function checkNumbers(numbers: readonly Float32Array[], pictures: string, folder: string): void {
  if (numbers.length < MIN_PICTURES) {
    throw new AkinError(
      'bad-request',
      `${pictures} contains ${numbers.length} pictures that the model can read. Training needs at least ${MIN_PICTURES}, better some thousands, of the kind that will be searched.`,
    );
  }
  if (numbers.every((one) => distance(one, numbers[0] as Float32Array) < MIN_DIFFERENCE)) {
    throw new AkinError(
      'bad-request',
      `The model in ${folder} gives the same vector for all ${numbers.length} pictures, so it cannot rank them. See "output" and "input" in its content-model.json.`,
    );
  }
}

function badRequest(cause: Error): never {
  throw new AkinError('bad-request', cause.message, { cause });
}
