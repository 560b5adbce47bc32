import { readFile } from 'node:fs/promises';
import { AkinError, roundToHalves } from '@akin/domain';
import { decodeImage } from '@akin/imaging';
import { MIN_SIDE } from '../analyzer/analyze-image.ts';
import { fitCalibration, NON_MATCHING_SCORES } from '../learn/calibration.ts';
import { classFolders, seeClasses } from '../learn/class-folders.ts';
import { trainCodebook } from '../learn/codebook.ts';
import { filesBelow } from '../learn/files-below.ts';
import { toRows } from '../learn/linear.ts';
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

export interface Lesson {
  /** Of the model. */
  readonly folder: string;
  /** Pictures such as the collections will hold, in this folder and those below. */
  readonly pictures: string;
  /** Holds a folder for each class of pictures: what differs within one will count less. */
  readonly classes?: string | undefined;
  readonly backend?: Backend | undefined;
}

/** Hears how far it is. */
export interface Listener {
  readonly progress: (done: number, all: number) => void;
  /** Told of each file that is no picture. */
  readonly skip: (file: string, why: string) => void;
}

/** The files of a training, and the name that outputs will carry. */
export interface Learned {
  /** By name, to be written into the folder of the model. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly model: string;
  /** How many were learned from. */
  readonly pictures: number;
  readonly classes: number;
}

/** With fewer, distances of non-matching pairs and the axes say little. */
const LEAST_PICTURES = 100;
/** More teach hardly more; these are taken from the whole folder. */
const MOST_PICTURES = 10_000;
/** Pairs of more change the calibration by less than 0.01. */
const MOST_MEASURED = 2000;
const SEED = 1;
/** Vectors of length 1 that are nearer than this differ by rounding alone. */
const LEAST_DIFFERENCE = 1e-4;

/**
 * What {@link trainContentModel} does except the writing, in the calling thread, which it blocks for minutes.
 *
 * @throws {AkinError} bad-request when the model does not open, there are too few pictures, or no class where they are asked for.
 */
export async function learn(lesson: Lesson, listener: Listener): Promise<Learned> {
  const { folder, pictures, classes, backend } = lesson;
  if (isModelFolder(folder)) return measure(lesson, listener);
  const { dimensions } = descriptorOf('content');
  const modelFiles = await readModelFiles(folder);
  const run = await openModel(folder, modelFiles, backend ?? 'wasm');
  const paths = await filesOf(pictures);
  const pathsOfClasses = classes === undefined ? [] : await classFolders(classes).catch(badRequest);
  const taken = fewerFiles(MOST_PICTURES, paths);
  const numbersOf = seeing(
    (picture) => run(picture.pixels),
    new Set([...taken, ...pathsOfClasses.flat()]).size,
    listener,
  );
  const numbers = await numbersOf(taken);
  checkNumbers(numbers, pictures, folder);
  const numbersOfClasses =
    classes === undefined ? [] : await seeClasses(classes, pathsOfClasses, numbersOf).catch(badRequest);
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
  return filesBelow(pictures).catch((cause) => {
    throw new AkinError('bad-request', `${pictures} is no folder of pictures.`, { cause });
  });
}

/**
 * A model in the layout of Hugging Face is taken as it is: what is measured is how far two pictures of the folder lie
 * apart, from which scores come.
 */
async function measure({ folder, pictures, classes }: Lesson, listener: Listener): Promise<Learned> {
  if (classes !== undefined) {
    throw new AkinError(
      'bad-request',
      `The model in ${folder} is used without training, so --classes has no effect: leave it out.`,
    );
  }
  const model = readModelFolder(folder);
  const run = await openPictures(model);
  const paths = fewerFiles(MOST_MEASURED, await filesOf(pictures));
  const numbers = await seeing(run, paths.length, listener)(paths);
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

/** What the model gives for files. Each is seen once, however often it is asked for; what is no picture is left out. */
function seeing(
  run: (picture: Pick<Picture, 'pixels' | 'pixelsOf'>) => Float32Array | Promise<Float32Array>,
  all: number,
  { progress, skip }: Listener,
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

/** Throws an AkinError when there is too little to learn from. */
function checkNumbers(numbers: readonly Float32Array[], pictures: string, folder: string): void {
  if (numbers.length < LEAST_PICTURES) {
    throw new AkinError(
      'bad-request',
      `${pictures} holds ${numbers.length} pictures that the model can look at. Training needs at least ${LEAST_PICTURES}, better some thousands, of the kind that will be searched.`,
    );
  }
  if (numbers.every((one) => distance(one, numbers[0] as Float32Array) < LEAST_DIFFERENCE)) {
    throw new AkinError(
      'bad-request',
      `The model in ${folder} gives the same for all ${numbers.length} pictures: nothing can be found by it. See "output" and "input" in its content-model.json.`,
    );
  }
}

function badRequest(cause: Error): never {
  throw new AkinError('bad-request', cause.message, { cause });
}
