import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AkinError } from '@akin/domain';
import { requireRegularFile } from '../model-folder/require-regular-file.ts';
import type { Module } from '../module.ts';
import type { Backend } from '../network/backend.ts';
import { descriptorOf, useCodebook } from '../vectors/codebook.ts';
import { type Axes, readAxes } from './axes.ts';
import { AXES_FILE, damagedFileError, modelId, readModelFiles, readTrained, untrainedError } from './files.ts';
import { openModel } from './run-model.ts';

/**
 * Opens a user's own model for the module content, instead of the built-in network. The thread's codebook becomes that
 * of the model.
 *
 * @param name The model name that outputs must contain, because other threads of this process use it; empty allows any.
 * @throws {AkinError} bad-request when the folder has no model, or the model is not trained, is damaged, was changed or
 * cannot run; unavailable when its name is not `name`.
 */
export async function openCustomContent(folder: string, backend: Backend, name = ''): Promise<Module['analyze']> {
  const codebook = readTrained(folder);
  const trained = codebook.model;
  if (name !== '' && trained !== name) {
    throw new AkinError(
      'unavailable',
      `The model in ${folder} was trained again while this akin runs with ${name}: restart akin, then run akin reindex to renew the outputs.`,
    );
  }
  useCodebook('content', codebook);
  const files = await readModelFiles(folder);
  requireRegularFile(join(folder, AXES_FILE));
  const bytes = await readFile(join(folder, AXES_FILE)).catch(() => {
    throw untrainedError(folder);
  });
  const { output, dimensions } = descriptorOf('content');
  let axes: Axes;
  try {
    axes = readAxes(bytes, dimensions, join(folder, AXES_FILE));
  } catch (cause) {
    throw damagedFileError(folder, AXES_FILE, cause);
  }
  const model = modelId(files, bytes);
  if (model !== trained) {
    throw new AkinError(
      'bad-request',
      `The model in ${folder} is not the one that was trained, ${trained}. Run akin train again.`,
    );
  }
  const run = await openModel(folder, files, backend);
  return ({ pixels }) => ({ [output]: { model, vector: axes.describe(run(pixels)) } });
}
