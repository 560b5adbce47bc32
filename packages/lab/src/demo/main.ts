/**
 * `npm run demo`: draws the demo, analyzes it with akin's own models and writes pictures and outputs to
 * `apps/akin/demo`, where `akin serve` reads them. Run it when the drawings or the models change.
 */
import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyzeImage } from '@akin/modules/analyze';
import { modelNames } from '@akin/modules/vectors';
import { drawDemo } from './draw-demo.ts';

const target = fileURLToPath(new URL('../../../../apps/akin/demo/', import.meta.url));
const drawn = await fs.mkdtemp(path.join(os.tmpdir(), 'akin-demo-'));
try {
  const documents = await drawDemo(drawn);
  await fs.rm(target, { recursive: true, force: true });
  await fs.mkdir(target, { recursive: true });
  const lines: string[] = [];
  for (const { file, ...fields } of documents) {
    const bytes = await fs.readFile(file);
    const { outputs } = await analyzeImage(bytes);
    lines.push(JSON.stringify({ ...fields, import: outputs }));
    await fs.writeFile(path.join(target, path.basename(file)), bytes);
  }
  // One document on each line, so that a diff shows only changed documents.
  await fs.writeFile(
    path.join(target, 'documents.json'),
    `{"models":${JSON.stringify(modelNames())},"documents":[\n${lines.join(',\n')}\n]}\n`,
  );
  console.log(`${lines.length} pictures with their outputs in ${target}`);
} finally {
  await fs.rm(drawn, { recursive: true, force: true });
}
