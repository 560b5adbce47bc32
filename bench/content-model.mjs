// Tries a content model of your own, and times it on one thread: `node bench/content-model.mjs <folder of the model>`.
// Ends with an error if the model does not load. Without a folder it uses a transformer with random weights. It has the
// shape of DINOv2 small (22 million weights), or with `--words` that of SigLIP base (93 million for pictures, 110
// million for texts).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnalyzer } from '@akin/modules/analyze';
import { modelSetWith } from '@akin/modules/vectors';
import { drawImage, TINY_TOWERS } from '@akin/testing';
import { printMachine } from './lib/machine.mjs';
import { writeRandomDino, writeRandomSiglip } from './lib/random-towers.mjs';

const PICTURES = 50;
const TEXTS = 50;

const [given] = process.argv.slice(2);
const isRandom = given === undefined || given === '--words';
const contentModel = isRandom ? await mkdtemp(join(tmpdir(), 'akin-random-model-')) : given;
try {
  if (given === undefined) await writeRandomDino(contentModel);
  if (given === '--words') await writeRandomSiglip(contentModel, TINY_TOWERS);
  printMachine();
  await time();
} finally {
  if (isRandom) await rm(contentModel, { recursive: true });
}

async function time() {
  const { models, textCalibration, parseOutputs } = modelSetWith(contentModel);
  const analyzer = await createAnalyzer({ threads: 1, contentModel });
  const pictures = await Promise.all(
    Array.from({ length: PICTURES }, (_, seed) => drawImage({ width: 400, height: 300, seed })),
  );
  let outputs = '';
  const analyze = async (i) => {
    ({ outputs } = await analyzer.analyze(pictures[i], { modules: ['content'] }));
  };
  await analyze(0);
  console.log(`model         ${models.get('content')}`);
  console.log(`pictures/s    ${await perSecond(PICTURES, analyze)}  (400 x 300 JPEG, decoding included)`);
  console.log(`numbers       ${parseOutputs(outputs).descriptors.get('content').vector.length}`);
  const { signal } = new AbortController();
  const describe = (i) => analyzer.encodeText(`a picture of ${i} bikes`, signal);
  if (textCalibration !== undefined) await describe(0);
  console.log(`texts/s       ${textCalibration === undefined ? 'no text encoder' : await perSecond(TEXTS, describe)}`);
  await analyzer[Symbol.asyncDispose]();
}

async function perSecond(count, work) {
  const [from, before] = [performance.now(), process.cpuUsage()];
  for (let i = 0; i < count; i++) await work(i);
  const rate = ((count * 1000) / (performance.now() - from)).toFixed(1);
  const { user, system } = process.cpuUsage(before);
  // A busy machine changes CPU time less than wall-clock time.
  return `${rate}, ${((user + system) / 1000 / count).toFixed(0)} ms of CPU each`;
}
