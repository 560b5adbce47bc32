import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { analyzeImage } from '@akin/modules/analyze';
import { modelNames } from '@akin/modules/vectors';
import { expect, it } from '@jest/globals';

const DEMO = new URL('../../demo/', import.meta.url);
const { models, documents } = JSON.parse(await readFile(new URL('documents.json', DEMO), 'utf8'));

it('the demo contains a picture for each document, and the outputs of the models of akin', async () => {
  const pictures = (await readdir(fileURLToPath(DEMO))).filter((name) => name.endsWith('.webp'));
  expect(pictures.sort()).toEqual(documents.map(({ id }: { id: string }) => `${id}.webp`));
  // After a change of a model, run: npm run demo.
  expect(models).toBe(modelNames());
  for (const document of [documents[0], documents.at(-1)]) {
    const { outputs } = await analyzeImage(await readFile(new URL(`${document.id}.webp`, DEMO)));
    expect(document.import).toBe(outputs);
  }
});
