/**
 * `npm run train-codebooks -- <folder> [module…] [--backend onnx]`: trains the codebook of every module with a descriptor
 * on a folder of pictures.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { loadModule } from '../load-module.ts';
import { moduleNames } from '../manifests.ts';
import type { Backend } from '../network/backend.ts';
import { codebookFile } from '../vectors/codebook.ts';
import { trainCodebook } from './codebook.ts';
import { describeFolder } from './describe-folder.ts';

const SEED = 1;

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { backend: { type: 'string', default: 'wasm' } },
});
const [folder, ...only] = positionals;
if (folder === undefined) {
  console.error('Usage: npm run train-codebooks -- <folder of pictures> [module…] [--backend wasm|onnx]');
  process.exit(1);
}

const described = await describeFolder(
  folder,
  only.length > 0 ? only : moduleNames,
  options.backend as Backend,
  (done, all) => {
    if (done % 100 === 0 || done === all) console.log(`${done} of ${all} pictures`);
  },
  (file, why) => console.warn(`${file}: ${why}`),
);
for (const [module, { model, vectors }] of described) {
  const { scores } = await loadModule(module);
  const file = codebookFile(module);
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, trainCodebook({ module, model, vectors, scores, seed: SEED }));
  console.log(`${file.pathname}: ${model}, ${vectors.count} pictures`);
}
