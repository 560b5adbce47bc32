import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringifyJson } from '@akin/domain';
import { MODULES } from '@akin/modules/manifests';
import { decodeDescriptor, encodeDescriptor, parseOutputs } from '@akin/modules/vectors';
import { idOf, wordAt } from '../lib/documents.mjs';
import { createDice } from '../lib/random.mjs';
import { analyzeSeeds, modelMark } from '../lib/seeds.mjs';
import { createDensity, realDescriptors } from './density.mjs';
import { REGION_BITS, splitIntoRegions } from './regions.mjs';

/** Number of documents in one file, and so in one update. */
const PART = 50_000;
const contentDescriptor = MODULES.find(({ name }) => name === 'content').descriptor;
/** One of this many pictures stays out of the collection, and is a query picture. */
const HELD_OUT_EVERY = 20;

/**
 * Analyzes the pictures of a collection: those around which documents are made up, and the query pictures.
 *
 * @param {{ pictures: string, seeds: number }} options
 */
export async function openModel({ pictures, seeds: most }) {
  const seeds = await analyzeSeeds(pictures, most);
  const inside = seeds.filter((_, i) => i % HELD_OUT_EVERY !== 0);
  const heldOut = seeds.filter((_, i) => i % HELD_OUT_EVERY === 0);
  const real = realDescriptors(inside);
  let density;
  return {
    inside,
    heldOut,
    real,
    regions: splitIntoRegions(real.get('content')),
    /** It is created at its first use, because finding the neighbours of thousands of pictures takes half a minute. */
    get density() {
      density ??= createDensity(real);
      return density;
    },
  };
}

/**
 * The columns that searches filter by. In columns of evenly drawn numbers, each value has a known share of all
 * documents. `region` and `continent` depend on what the picture shows.
 */
export const FILTER_COLUMNS = [
  'tenth',
  'another_tenth',
  'hundredth',
  'thousandth',
  'ten_thousandth',
  'region',
  'continent',
];

/** The values of the document with a number, without the picture. */
function valuesOf(number, region) {
  const dice = createDice(Math.imul(number, 0x85ebca6b) + 2);
  const uniform = {
    tenth: dice.whole(10),
    another_tenth: dice.whole(10),
    hundredth: dice.whole(100),
    thousandth: dice.whole(1_000),
    ten_thousandth: dice.whole(10_000),
  };
  return {
    ...uniform,
    region,
    // There are eight continents. Each consists of neighbouring regions.
    continent: region >> (REGION_BITS - 3),
    title: Array.from({ length: 8 }, () => word(dice)).join(' '),
    brand: `brand ${Math.floor(1000 ** dice.number())}`,
    available: dice.number() < 0.9,
    price: Math.round(dice.number() ** 3 * 100_000) / 100 + 0.005,
    taken: new Date(Date.UTC(2020, 0, 1) + dice.whole(5 * 365 * 86_400) * 1_000).toISOString(),
    labels: [`subject ${region}`, word(dice), word(dice)],
    location: `${(dice.number() * 180 - 90).toFixed(4)},${(dice.number() * 360 - 180).toFixed(4)}`,
  };
}

/** Draws one of 4,096 words. The n-th word is about n times as rare as the first one (Zipf). */
const word = (dice) => wordAt(Math.min(4095, Math.floor(4096 ** dice.number()) - 1));

/** Makes a whole document, and the values of it that measurements need. */
function makeDocument(number, model) {
  const { around, vectors } = model.density.draw(number);
  const values = valuesOf(number, model.regions.of[around]);
  const descriptors = Object.fromEntries(
    MODULES.filter(({ descriptor }) => descriptor).map(({ name, descriptor }) => [
      descriptor.output,
      encodeDescriptor(vectors.get(name), name),
    ]),
  );
  // The reader adds the missing codes, by the shipped codebook.
  const { fields } = parseOutputs(JSON.stringify(descriptors));
  const rest = [...model.inside[around].outputs.fields].filter(([name]) => !fields.has(name));
  const id = idOf(number);
  const image = `https://pictures.example/${id}.jpg`;
  return {
    json: JSON.stringify({ id, image, ...values, import: stringifyJson(new Map([...fields, ...rest])) }),
    values,
    // akin stores this vector: it is rounded to half precision.
    vector: decodeDescriptor(descriptors.content_descriptor, 'content'),
  };
}

/**
 * Makes one file of documents for `/update`. Next to it, it writes what measurements need: the content descriptors and
 * the filter columns. It does nothing if the files exist.
 */
export async function makePart(folder, part, count, model) {
  const paths = partPaths(folder, part);
  if (await stat(paths.done).catch(() => undefined)) return paths;
  await mkdir(folder, { recursive: true });
  const { dimensions: width } = contentDescriptor;
  const vectors = new Float32Array(count * width);
  const columns = new Int32Array(count * FILTER_COLUMNS.length);
  const output = createWriteStream(`${paths.documents}.partial`);
  for (let i = 0; i < count; i++) {
    const { json, values, vector } = makeDocument(part * PART + i, model);
    vectors.set(vector, i * width);
    columns.set(
      FILTER_COLUMNS.map((name) => values[name]),
      i * FILTER_COLUMNS.length,
    );
    if (!output.write(`${i === 0 ? '[' : ',\n'}${json}`)) await once(output, 'drain');
  }
  output.end(']\n');
  await once(output, 'close');
  await rename(`${paths.documents}.partial`, paths.documents);
  await writeFile(paths.vectors, vectors);
  await writeFile(paths.columns, columns);
  await writeFile(paths.done, '');
  return paths;
}

function partPaths(folder, part) {
  const base = join(folder, `part-${String(part).padStart(3, '0')}`);
  return {
    documents: `${base}.json`,
    vectors: `${base}.vectors`,
    columns: `${base}.columns`,
    done: `${base}.${modelMark()}`,
  };
}

/** How many documents each part has. */
export function partCounts(documents) {
  return Array.from({ length: Math.ceil(documents / PART) }, (_, part) => Math.min(PART, documents - part * PART));
}

/** Reads the first documents of a collection as JSON. */
export async function documentTexts(folder, count) {
  const texts = (await readFile(partPaths(folder, 0).documents, 'utf8')).split('\n', count);
  return texts.map((text) => text.replace(/^\[|[,\]]$/g, ''));
}

/** Reads the content descriptors of the first documents, at most those of one part. */
export async function readPartVectors(folder, count) {
  const { dimensions: width } = contentDescriptor;
  const values = new Float32Array((await readFile(partPaths(folder, 0).vectors)).buffer, 0, count * width);
  return { width, count, values };
}

/** Reads the content descriptors and filter columns of a whole collection from the files next to the documents. */
export async function readFacts(folder, documents) {
  const { dimensions: width } = contentDescriptor;
  const vectors = new Float32Array(documents * width);
  const columns = new Int32Array(documents * FILTER_COLUMNS.length);
  for (const [part, count] of partCounts(documents).entries()) {
    const paths = partPaths(folder, part);
    vectors.set(new Float32Array((await readFile(paths.vectors)).buffer, 0, count * width), part * PART * width);
    columns.set(
      new Int32Array((await readFile(paths.columns)).buffer, 0, count * FILTER_COLUMNS.length),
      part * PART * FILTER_COLUMNS.length,
    );
  }
  return { vectors: { width, count: documents, values: vectors }, columns };
}
