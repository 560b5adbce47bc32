/** `npm run train-codebooks -- <folder>`: trains the codebook of every module with a descriptor on a folder of pictures. */
import { mkdir, writeFile } from 'node:fs/promises';
import { loadModule } from '../load-module.ts';
import { codebookFile } from '../vectors/codebook.ts';
import { trainCodebook } from './codebook.ts';
import { describeFolder } from './describe-folder.ts';

const SEED = 1;

const [folder, ...only] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: npm run train-codebooks -- <folder of pictures> [module…]');
  process.exit(1);
}

const described = await describeFolder(
  folder,
  (done, all) => {
    if (done % 100 === 0 || done === all) console.log(`${done} of ${all} pictures`);
  },
  (file, why) => console.warn(`${file}: ${why}`),
);
for (const [module, { model, vectors }] of described) {
  if (only.length > 0 && !only.includes(module)) continue;
  const { scores } = await loadModule(module);
  const file = codebookFile(module);
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, trainCodebook({ module, model, vectors, scores, seed: SEED }));
  console.log(`${file.pathname}: ${model}, ${vectors.count} pictures`);
}
