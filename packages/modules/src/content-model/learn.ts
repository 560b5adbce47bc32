import { readFile } from 'node:fs/promises';
import { AkinError } from '@akin/domain';
import { decodeImage } from '@akin/imaging';
import { MIN_SIDE } from '../analyzer/analyze-image.ts';
import { roundToHalves } from '../half.ts';
import type { Backend } from '../network/backend.ts';
import { classFolders, LEAST_OF_CLASS } from '../train/class-folders.ts';
import { trainCodebook } from '../train/codebook.ts';
import { filesBelow } from '../train/files-below.ts';
import { type Rows, toRows } from '../train/linear.ts';
import { descriptorOf } from '../vectors/codebook.ts';
import { distance } from '../vectors/unit.ts';
import { readAxes, trainAxes, unitOf } from './axes.ts';
import { AXES_FILE, modelId, readModelFiles } from './files.ts';
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
  readonly axes: Uint8Array;
  readonly codebook: Uint8Array;
  readonly model: string;
  /** How many there were. */
  readonly pictures: number;
  readonly classes: number;
}

/** With fewer, distances of strangers and the axes say little. */
const LEAST_PICTURES = 100;
const SEED = 1;
/** Vectors of length 1 that are nearer than this differ by rounding alone. */
const LEAST_DIFFERENCE = 1e-4;

/**
 * What {@link trainContentModel} does but for the writing, in the thread that calls it, which has time for nothing else
 * for minutes.
 *
 * @throws {AkinError} bad-request when the model does not open, there are too few pictures, or no class where they are asked for.
 */
export async function learn({ folder, pictures, classes, backend }: Lesson, listener: Listener): Promise<Learned> {
  const { dimensions } = descriptorOf('content');
  const files = await readModelFiles(folder);
  const run = await openModel(folder, files, backend ?? 'wasm');
  const paths = await filesBelow(pictures).catch((cause) => {
    throw new AkinError('bad-request', `${pictures} is no folder of pictures.`, { cause });
  });
  const members =
    classes === undefined
      ? []
      : await classFolders(classes).catch(({ message }) => {
          throw new AkinError('bad-request', message);
        });
  const all = paths.length + members.flat().length;
  let done = 0;
  const numbersOf = async (paths: readonly string[]) => {
    const numbers: Float32Array[] = [];
    for (const path of paths) {
      try {
        const { pixels } = await decodeImage(await readFile(path), { minSide: MIN_SIDE });
        numbers.push(unitOf(run(pixels)));
      } catch (error) {
        listener.skip(path, (error as Error).message);
      }
      listener.progress(++done, all);
    }
    return numbers;
  };
  const numbers = await numbersOf(paths);
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
  const { length } = numbers[0] as Float32Array;
  const known: Rows[] = [];
  for (const paths of members) {
    const ofClass = await numbersOf(paths);
    if (ofClass.length >= LEAST_OF_CLASS) known.push(toRows(ofClass, length));
  }
  if (classes !== undefined && known.length === 0) {
    throw new AkinError('bad-request', `${classes} holds no folder with ${LEAST_OF_CLASS} pictures that can be read.`);
  }
  const axesFile = trainAxes(toRows(numbers, length), dimensions, known);
  const axes = readAxes(axesFile, dimensions, AXES_FILE);
  const vectors = toRows(
    numbers.map((one) => roundToHalves(axes.describe(one))),
    dimensions,
  );
  const model = modelId(files, axesFile);
  const codebook = trainCodebook({ module: 'content', model, vectors, seed: SEED });
  return { axes: axesFile, codebook, model, pictures: numbers.length, classes: known.length };
}
