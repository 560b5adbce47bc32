/**
 * `npm run train -- <folder of pictures> [--classes <folder>] [--model <folder>] [--backend onnx]`: replaces the
 * network, or repeats all training that depends on its weights. Checks the network of `--model` by its reference and
 * copies it over akin's own. Then computes the axes of descriptors, codebooks and scores, the stored outputs that tests
 * compare with, and those of the demo. Model names contain hashes of weights and axes, so they change automatically.
 * After an interruption the run starts from the beginning; until a run ends, akin refuses to analyze.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MODEL_FOLDER } from '@akin/modules/internal/network/model';
import { classFolders } from '../learn/class-folders.ts';
import { pictureFiles } from '../learn/picture-files.ts';
import { fail, readArguments } from './arguments.ts';
import { checkModel, installModel } from './install-model.ts';
import { MIN_PICTURES } from './network-axes.ts';

const { folders, classes, model, backend } = await readArguments(
  'train -- <folder of pictures> [--classes <folder of folders>] [--model <folder>]',
  { folders: 1, options: ['classes', 'model'] },
);
const [pictures] = folders as [string];
// Check before the network is replaced: if a later training fails, akin cannot analyze.
const found = (await pictureFiles(pictures).catch(fail)).length;
if (found < MIN_PICTURES) {
  fail(
    `${pictures} contains ${found} files named as pictures. Training needs at least ${MIN_PICTURES}, better some thousands.`,
  );
}
if (classes !== undefined) await classFolders(classes).catch(fail);
const folder = model === undefined ? MODEL_FOLDER : pathToFileURL(`${resolve(model)}/`);
try {
  console.log(`${await checkModel(folder, backend)}: gives what its reference says`);
  if (folder !== MODEL_FOLDER) await installModel(folder);
} catch (error) {
  fail(`The network in ${fileURLToPath(folder)} is not taken. ${error instanceof Error ? error.message : error}`);
}
const withClasses = classes === undefined ? [] : ['--classes', classes];
for (const [script, more] of [
  ['axes.js', withClasses],
  ['main.js', []],
  ['../../../packages/modules/test/store-outputs.mjs', []],
  ['analyze-demo.js', []],
] as const) {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const args = [file, pictures, '--backend', backend, ...more];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) fail('Training ended early: run it again. Until it ends, akin cannot analyze pictures.');
}
console.log('Now npm test, and npm run eval -- <folder…> for docs/quality.md.');
