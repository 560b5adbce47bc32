/**
 * `npm run train-codebooks -- <folder> [module…] [--backend onnx]`: trains the codebook of every module with a
 * descriptor on a folder of pictures.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { loadModule } from '@akin/modules/internal/analyzer/load-module';
import { codebookFile } from '@akin/modules/internal/vectors/codebook';
import { trainCodebook } from '../learn/codebook.ts';
import { fail, readArguments } from './arguments.ts';
import { describeFolder } from './describe-folder.ts';

const SEED = 1;

const { folders, modules, backend } = await readArguments('train-codebooks -- <folder of pictures> [module…]', {
  folders: 1,
  modules: true,
});
const [folder] = folders as [string];
const described = await describeFolder(
  folder,
  modules,
  backend,
  (done, all) => {
    if (done % 100 === 0 || done === all) console.log(`${done} of ${all} pictures`);
  },
  (file, why) => console.warn(`${file}: ${why}`),
).catch(fail);
if (described.size === 0) fail(`${folder} contains no readable picture.`);
for (const [module, { model, vectors }] of described) {
  const { scores } = await loadModule(module);
  const file = codebookFile(module);
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, trainCodebook({ module, model, vectors, scores, seed: SEED }));
  console.log(`${file.pathname}: ${model}, ${vectors.count} pictures`);
}
