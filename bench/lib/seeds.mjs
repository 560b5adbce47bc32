import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import { moduleNames } from '@akin/modules/manifests';
import { parseOutputs } from '@akin/modules/vectors';
import { drawImage } from '@akin/testing';

const SEEDS = 300;
const EXTENSIONS = ['.jpg', '.jpeg', '.png', '.webp'];

const known = new Map();

/**
 * Analyzed pictures, around which documents are made up.
 *
 * @param {string} folder of pictures, searched through; pictures are drawn when it is empty
 * @returns {Promise<{ outputs: ReturnType<typeof parseOutputs>, thumbnail: Uint8Array }[]>}
 */
export function analyzeSeeds(folder) {
  if (!known.has(folder)) known.set(folder, analyze(folder));
  return known.get(folder);
}

async function analyze(folder) {
  const pictures = await (folder === '' ? drawPictures() : readPictures(folder));
  // Behind the drawing: the analyzer forbids sharp to read the SVG that pictures are drawn as.
  const { createAnalyzer } = await import('@akin/modules/analyze');
  const analyzer = await createAnalyzer({ threads: availableParallelism() });
  try {
    // A picture that cannot be read is no seed.
    const describe = (bytes) =>
      analyzer.analyze(bytes, { modules: moduleNames, thumbnail: true }).catch(() => undefined);
    const done = (await Promise.all(pictures.map(describe))).filter((analysis) => analysis !== undefined);
    if (done.length === 0) throw new Error(`${folder} holds no picture that can be analyzed`);
    return done.map(({ outputs, thumbnail }) => ({ outputs: parseOutputs(outputs), thumbnail }));
  } finally {
    await analyzer[Symbol.asyncDispose]();
  }
}

function drawPictures() {
  return Promise.all(Array.from({ length: SEEDS }, (_, i) => drawImage({ width: 400, height: 300, seed: i + 1 })));
}

async function readPictures(folder) {
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => EXTENSIONS.includes(extname(name).toLowerCase()))
    .sort();
  // Evenly over the folder, which may be sorted by what is on the pictures.
  const count = Math.min(names.length, SEEDS);
  const chosen = Array.from({ length: count }, (_, i) => names[Math.floor((i * names.length) / count)]);
  return Promise.all(chosen.map((name) => readFile(join(folder, name))));
}
