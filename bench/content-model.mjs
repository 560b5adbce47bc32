// Tries a content model of your own, and times it on one thread: `node bench/content-model.mjs <folder of the model>`.
// Ends with an error where the model does not load: so it is also the check of a real model, which no test has. Without a
// folder it takes a vision transformer of 22 million random weights.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnalyzer } from '@akin/modules/analyze';
import { generationWith } from '@akin/modules/vectors';
import { drawImage } from '@akin/testing';
import { printMachine } from './lib/machine.mjs';
import { writeRandomVit } from './lib/random-vit.mjs';

const PICTURES = 50;
const TEXTS = 50;

const [given] = process.argv.slice(2);
const made = given === undefined ? await mkdtemp(join(tmpdir(), 'akin-random-vit-')) : undefined;
if (made !== undefined) await writeRandomVit(made);
const contentModel = given ?? made;
printMachine();
const { models, wordsCalibration, parseOutputs } = generationWith(contentModel);
const analyzer = await createAnalyzer({ threads: 1, contentModel });
const pictures = await Promise.all(
  Array.from({ length: PICTURES }, (_, seed) => drawImage({ width: 400, height: 300, seed })),
);
const perSecond = async (count, work) => {
  const from = performance.now();
  for (let i = 0; i < count; i++) await work(i);
  return ((count * 1000) / (performance.now() - from)).toFixed(1);
};
let outputs = '';
const analyze = async (i) => {
  ({ outputs } = await analyzer.analyze(pictures[i], { modules: ['content'] }));
};
await analyze(0);
console.log(`model         ${models.get('content')}`);
console.log(`pictures/s    ${await perSecond(PICTURES, analyze)}  (400 x 300 JPEG, decoding included)`);
console.log(`numbers       ${parseOutputs(outputs).descriptors.get('content').vector.length}`);
if (wordsCalibration === undefined) console.log('words         none');
else {
  const { signal } = new AbortController();
  await analyzer.describeWords('warm up', signal);
  console.log(
    `words/s       ${await perSecond(TEXTS, (i) => analyzer.describeWords(`a picture of ${i} bikes`, signal))}`,
  );
}
await analyzer[Symbol.asyncDispose]();
if (made !== undefined) await rm(made, { recursive: true });
