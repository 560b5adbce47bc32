import { AkinError, badRequest } from '@akin/domain';
import type { Module } from '../module.ts';
import type { Picture } from '../picture/picture.ts';
import { descriptorOf, useCodebook } from '../vectors/codebook.ts';
import { unitOf } from '../vectors/unit.ts';
import { untrainedCodebook } from './codebook.ts';
import { type ModelFolder, readModelFolder } from './files.ts';
import { minimumSide, preprocess } from './preprocessing.ts';
import { openTower } from './tower.ts';

/**
 * Opens a model in the layout of Hugging Face for the module content. The thread's codebook becomes that of the model.
 *
 * @param name The model name that outputs must contain, because other threads of this process use it; empty allows any.
 * @throws {AkinError} bad-request when the folder has no supported model, or a damaged one; unavailable when its name
 * is not `name`; conflict when onnxruntime-node is missing.
 */
export async function openFolderContent(folder: string, name = ''): Promise<Module['analyze']> {
  const model = readModelFolder(folder);
  requireName(model, name);
  const run = await openPictures(model);
  useCodebook('content', untrainedCodebook(model));
  const { output } = descriptorOf('content');
  return async (picture) => ({ [output]: { model: model.id, vector: unitOf(await run(picture)) } });
}

export function requireName(model: Pick<ModelFolder, 'folder' | 'id'>, name: string): void {
  if (name === '' || model.id === name) return;
  throw new AkinError(
    'unavailable',
    `The model in ${model.folder} was replaced by ${model.id} while this akin runs with ${name}: restart akin, then run akin reindex to renew the outputs.`,
  );
}

/** Opens the image tower in this thread and runs it once. The vectors are not scaled to unit length. */
export async function openPictures(
  model: ModelFolder,
): Promise<(picture: Pick<Picture, 'pixelsOf'>) => Promise<Float32Array>> {
  const { pictures, preprocessing, config } = model;
  const tower = await openTower(pictures, config.family.output);
  const [input] = tower.inputNames;
  if (input === undefined || tower.inputNames.length > 1) {
    throw badRequest(
      `${pictures} takes ${tower.inputNames.join(', ')}; a tower for pictures takes pixel_values alone.`,
    );
  }
  const { width, height } = preprocessing;
  const shape = [1, 3, height, width];
  const run = (values: Float32Array) => tower.run({ [input]: { values, shape } });
  const probe = await run(new Float32Array(width * height * 3));
  if (probe.length !== config.dimensions) {
    throw badRequest(`${pictures} gives ${probe.length} numbers, and its config.json says ${config.dimensions}.`);
  }
  const side = minimumSide(preprocessing);
  return async (picture) => run(preprocess(await picture.pixelsOf(side), preprocessing));
}
