import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { stringifyJson } from '@akin/domain';
import { MODULES } from '@akin/modules/manifests';
import { encodeDescriptor, parseOutputs } from '@akin/modules/vectors';
import { createDice } from './random.mjs';
import { analyzeSeeds, modelMark } from './seeds.mjs';

/** Approximate number of bytes of a document with outputs and a small thumbnail. 100,000 documents take some 500 MB. */
const DOCUMENT_BYTES = 5_000;
/** Length of the noise that is added to the mixture of two seeds. */
const NOISE = 0.35;

/**
 * Returns a file with a number of documents, as a JSON array for `/update`. The file is made once and kept in the
 * temporary folder. Each document has outputs like those of an analysis. Each descriptor is a mixture of the
 * descriptors of two pictures and noise, so that descriptors form clusters like real ones. Codes and other outputs
 * match the descriptors. A thumbnail fills each document up to its size.
 *
 * `category` is one of 10 values, and `shelf` one of 100. `title` has words of a vocabulary in which few words are
 * frequent.
 *
 * @param {number} count
 * @param {string} pictures folder of pictures; empty for drawn pictures
 * @returns {Promise<string>} path of the file
 */
export async function documentsFile(count, pictures) {
  const folder = join(tmpdir(), 'akin-bench');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `documents-${pictures === '' ? 'drawn' : basename(pictures)}-${count}-${modelMark()}.json`);
  if (await stat(file).catch(() => undefined)) return file;
  console.error(`Making ${count} documents (once) …`);
  const seeds = await analyzeSeeds(pictures);
  const partial = `${file}.partial`;
  const output = createWriteStream(partial);
  const dice = createDice(1);
  for (let i = 0; i < count; i++) {
    const text = `${i === 0 ? '[' : ',\n'}${document(i, seeds, dice)}`;
    if (!output.write(text)) await once(output, 'drain');
  }
  output.end(']\n');
  await once(output, 'close');
  await rename(partial, file);
  return file;
}

export const idOf = (number) => `document-${String(number).padStart(7, '0')}`;
/** The inverse of {@link idOf}. */
export const numberOf = (id) => Number(id.slice('document-'.length));

function document(number, seeds, dice) {
  const fields = {
    id: idOf(number),
    image: `https://pictures.example/${idOf(number)}.jpg`,
    title: Array.from({ length: 8 }, () => word(dice)).join(' '),
    category: `category ${dice.whole(10)}`,
    shelf: dice.whole(100),
    price: Math.round(dice.number() * 10_000) / 100 + 0.005,
    taken: new Date(Date.UTC(2020, 0, 1) + dice.whole(5 * 365) * 86_400_000).toISOString(),
    labels: [word(dice), word(dice)],
    location: `${(dice.number() * 180 - 90).toFixed(4)},${(dice.number() * 360 - 180).toFixed(4)}`,
    import: makeOutputs(dice.one(seeds), dice.one(seeds), dice),
  };
  const room = DOCUMENT_BYTES - JSON.stringify(fields).length - 20;
  const { thumbnail } = dice.one(seeds);
  // Nothing decodes a thumbnail on its way in and out, so a truncated or padded one serves as well.
  const bytes = Buffer.alloc(Math.max(12, Math.floor((room * 3) / 4)));
  bytes.set(thumbnail.subarray(0, bytes.length));
  // The header states the length of the thumbnail. Without this, the thumbnail would look truncated.
  bytes.writeUInt32LE(bytes.length - 8, 4);
  return JSON.stringify({ ...fields, thumbnail: bytes.toString('base64') });
}

/** Makes outputs as an analysis writes them. */
function makeOutputs(near, far, dice) {
  const share = dice.number() * 0.7;
  const descriptors = MODULES.filter(({ descriptor }) => descriptor).map(({ name, descriptor }) => {
    const [a, b] = [near, far].map(({ outputs }) => outputs.descriptors.get(name).vector);
    return [descriptor.output, encodeDescriptor(mix(a, b, share, dice), name)];
  });
  // The reader adds the missing codes, by the shipped codebook.
  const { fields } = parseOutputs(JSON.stringify(Object.fromEntries(descriptors)));
  const rest = [...near.outputs.fields].filter(([name]) => !fields.has(name));
  return stringifyJson(new Map([...fields, ...rest]));
}

function mix(near, far, share, dice) {
  const noise = NOISE / Math.sqrt(near.length);
  const mixed = near.map((value, i) => value * (1 - share) + far[i] * share + noise * dice.normal());
  const length = Math.hypot(...mixed);
  return mixed.map((value) => value / length);
}

const SYLLABLES = ['ba', 'ce', 'di', 'fo', 'gu', 'ka', 'le', 'mi', 'no', 'pu', 'ra', 'se', 'ti', 'vo', 'zu', 'lan'];

/** Draws one of 4,096 words. The n-th word is about n times as rare as the first one (Zipf). */
function word(dice) {
  return wordAt(Math.min(4095, Math.floor(4096 ** dice.number()) - 1));
}

/** The word of a rank. Ranks begin at 0. */
export function wordAt(rank) {
  return [rank >> 8, (rank >> 4) & 15, rank & 15].map((part) => SYLLABLES[part]).join('');
}
