import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, stat } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { MODULES, moduleNames } from '@akin/modules/manifests';
import { encodeDescriptor, parseOutputs } from '@akin/modules/vectors';
import { drawImage } from '@akin/testing';

const EXTENSIONS = ['.jpg', '.jpeg', '.png', '.webp'];
/** Number of pictures that are processed at the same time, so that the threads of the analyzer do not wait. */
const AHEAD = 8;

/** Folder for results that take long to compute and are reused by later runs. */
export const CACHE = join(tmpdir(), 'akin-bench');

/** Returns a hash of the models. Stored descriptors of other models cannot be used. */
export function modelMark() {
  const hash = createHash('sha256');
  for (const { name, descriptor } of MODULES) {
    if (descriptor) hash.update(encodeDescriptor(new Float32Array(descriptor.dimensions), name));
  }
  return hash.digest('hex').slice(0, 8);
}

/**
 * Returns analyzed pictures, around which documents are made up. They are analyzed once, and the results are stored.
 *
 * @param {string} folder of pictures, including its subfolders; if it is empty, pictures are drawn
 * @param {number} most maximum number of pictures, which are taken evenly from the folder
 * @returns {Promise<{ text: string, outputs: ReturnType<typeof parseOutputs>, thumbnail: Uint8Array }[]>}
 */
export async function analyzeSeeds(folder, most = 300) {
  const file = join(CACHE, `seeds-${folder === '' ? 'drawn' : basename(folder)}-${most}-${modelMark()}.jsonl`);
  if (!(await stat(file).catch(() => undefined))) await analyze(await listPictures(folder, most), file);
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  if (lines.length === 0) throw new Error(`${folder} contains no picture that can be analyzed`);
  return lines.map((line) => {
    const { outputs, thumbnail } = JSON.parse(line);
    return { text: outputs, outputs: parseOutputs(outputs), thumbnail: Buffer.from(thumbnail, 'base64') };
  });
}

/** @param {(() => Promise<Uint8Array>)[]} pictures */
async function analyze(pictures, file) {
  console.error(`Analyzing ${pictures.length} pictures (once) …`);
  await mkdir(CACHE, { recursive: true });
  const lines = Array(pictures.length).fill('');
  // The analyzer is imported after pictures were drawn, because it forbids sharp to read SVG, in which they are drawn.
  const { createAnalyzer } = await import('@akin/modules/analyze');
  const analyzer = await createAnalyzer({ threads: availableParallelism() });
  try {
    let next = 0;
    const work = async () => {
      for (let i = next++; i < pictures.length; i = next++) {
        // A picture that cannot be read is skipped.
        const done = await pictures[i]()
          .then((bytes) => analyzer.analyze(bytes, { modules: moduleNames, thumbnail: true }))
          .catch(() => undefined);
        if (done === undefined) continue;
        const thumbnail = Buffer.from(done.thumbnail).toString('base64');
        lines[i] = `${JSON.stringify({ outputs: done.outputs, thumbnail })}\n`;
      }
    };
    await Promise.all(Array.from({ length: AHEAD }, work));
  } finally {
    await analyzer[Symbol.asyncDispose]();
  }
  const output = createWriteStream(`${file}.partial`);
  for (const line of lines) output.write(line);
  await new Promise((resolve) => output.end(resolve));
  await rename(`${file}.partial`, file);
}

async function listPictures(folder, most) {
  if (folder === '') {
    const drawn = await Promise.all(
      Array.from({ length: most }, (_, i) => drawImage({ width: 400, height: 300, seed: i + 1 })),
    );
    return drawn.map((bytes) => async () => bytes);
  }
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => EXTENSIONS.includes(extname(name).toLowerCase()))
    .sort();
  // Takes pictures from all parts of the list, because a folder may be sorted by what its pictures show.
  const count = Math.min(names.length, most);
  const chosen = Array.from({ length: count }, (_, i) => names[Math.floor((i * names.length) / count)]);
  return chosen.map((name) => () => readFile(join(folder, name)));
}
