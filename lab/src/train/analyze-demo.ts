/**
 * `npm run demo`: analyzes the pictures of the demo in `apps/akin/demo` with akin's own models, and writes their outputs
 * to `documents.json` there. Run it when the models change.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { analyzeImage } from '@akin/modules/analyze';
import { modelNames } from '@akin/modules/vectors';

const folder = new URL('../../../apps/akin/demo/', import.meta.url);
const file = new URL('documents.json', folder);
const { documents } = JSON.parse(await readFile(file, 'utf8')) as { documents: { id: string; import: string }[] };
const lines: string[] = [];
for (const document of documents) {
  const { outputs } = await analyzeImage(await readFile(new URL(`${document.id}.webp`, folder)));
  lines.push(JSON.stringify({ ...document, import: outputs }));
}
// One document on each line, so that a diff shows only changed documents.
await writeFile(file, `{"models":${JSON.stringify(modelNames())},"documents":[\n${lines.join(',\n')}\n]}\n`);
console.log(`${lines.length} pictures analyzed`);
