/** `npm run eval-parts -- <folder of pictures…>`: measures how well parts of pictures are found. See USAGE. */

import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { analyzeImage } from '@akin/modules/internal/analyzer/analyze-image';
import { COPY_SCORE } from '@akin/modules/internal/duplicate/copy-score';
import { evenIndexes } from '@akin/modules/internal/learn/sample-folder';
import {
  decodeDescriptor,
  distance,
  NEAR_PART_SCORE,
  partScore,
  SURE_PART_SCORE,
  scoreOf,
} from '@akin/modules/vectors';
import { findPart, mirrored, type PointSet, readPoints, SearchedCollection } from '@akin/searcher';
import { type PictureFile, pictureFiles } from '../learn/picture-files.ts';
import { fail } from '../train/arguments.ts';
import { editsOf } from './edited.ts';
import { COLLAGE, PART_EDITS } from './part-edits.ts';
import { table, three, two } from './report.ts';

const USAGE = `Usage: npm run eval-parts -- <folder of pictures…> [--among <folder>]… [--edited 140]

Searches for ${PART_EDITS.length} edits of each of some pictures, among all of them and those of the folders after --among, in one thread.
Prints which are found with a score of ${SURE_PART_SCORE}, and which other pictures are, without those of the same subfolder: look
at these, because copies and prints of one design are among them.`;

interface Described {
  readonly descriptor: Float32Array;
  /** As the module parts writes them. */
  readonly points: Uint8Array;
}

type DescribedFile = PictureFile & Described;

interface Found {
  readonly edit: string;
  /** Every other original is in half 1: choose by one half, and judge by the other. */
  readonly half: number;
  readonly isCandidate: boolean;
  readonly byPoints: boolean;
  readonly byDescriptors: boolean;
  /** As a search for copies finds it. */
  readonly byEither: boolean;
}

const { positionals: folders, values } = parseArgs({
  allowPositionals: true,
  options: { among: { type: 'string', multiple: true, default: [] }, edited: { type: 'string', default: '140' } },
});
if (folders.length === 0) fail(USAGE);

const lists: DescribedFile[][] = [];
for (const folder of [...folders, ...values.among]) lists.push(await describeFolder(folder));
const pictures = lists.flat();
const collection = new SearchedCollection(0);
for (const [doc, { points }] of pictures.entries()) {
  collection.addRow(doc, 1);
  collection.setPoints('parts', doc, points);
}
collection.advance(1);

const found: Found[] = [];
/** By an original and another picture: their highest score, and the edit that has it. */
const others = new Map<string, { readonly score: number; readonly edit: string }>();
/** Microseconds of the CPU. */
const cost = { candidates: 0, check: 0 };
let first = 0;
for (const list of lists.slice(0, folders.length)) {
  for (const [i, at] of evenIndexes(Math.round(Number(values.edited) / folders.length), list.length).entries()) {
    const [original, other] = [first + at, first + ((at + (list.length >> 1)) % list.length)];
    for (const [k, bytes] of (await editsOf(pictures, original, other, original + 1, PART_EDITS)).entries()) {
      const edit = PART_EDITS[k]?.name as string;
      found.push({ edit, half: 1 + (i % 2), ...search(await describe(bytes, true), edit, original) });
    }
    if ((i + 1) % 10 === 0) console.error(`${folders[lists.indexOf(list)]}: ${i + 1} pictures edited`);
  }
  first += list.length;
}
report();

async function describeFolder(folder: string): Promise<DescribedFile[]> {
  const described: DescribedFile[] = [];
  for (const one of await pictureFiles(folder).catch(fail)) {
    try {
      described.push({ ...one, ...(await describe(await readFile(one.file), false)) });
    } catch (error) {
      console.error(`${one.file}: ${(error as Error).message}`);
    }
  }
  console.error(`${folder}: ${described.length} pictures`);
  return described;
}

async function describe(bytes: Uint8Array, isSought: boolean): Promise<Described> {
  const { outputs } = await analyzeImage(bytes, { modules: ['duplicate', 'parts'], soughtPoints: isSought });
  const { duplicate_descriptor: descriptor, parts_points: points } = JSON.parse(outputs) as Record<string, string>;
  return {
    descriptor: decodeDescriptor(descriptor as string, 'duplicate'),
    points: Uint8Array.from(Buffer.from(points as string, 'base64')),
  };
}

function search(query: Described, edit: string, original: number): Omit<Found, 'edit' | 'half'> {
  let began = process.cpuUsage();
  const candidates = collection.findParts({ commit: 1, module: 'parts', points: query.points, filters: [] }) ?? [];
  cost.candidates += since(began);
  began = process.cpuUsage();
  const set = readPoints(query.points) as PointSet;
  const sides = [set, mirrored(set)] as const;
  const strengths = new Map<number, number>();
  for (const { doc, isMirrored } of candidates) {
    const picture = readPoints(pictures[doc]?.points as Uint8Array) as PointSet;
    const strength = findPart(sides[isMirrored ? 1 : 0], picture)?.strength ?? 0;
    strengths.set(doc, Math.max(strength, strengths.get(doc) ?? 0));
  }
  cost.check += since(began);
  // A collage also finds copies of its other picture.
  for (const [doc, strength] of edit === COLLAGE ? [] : strengths) {
    const [score, pair] = [partScore(strength), `${original} ${doc}`];
    const isExpected = doc === original || isSameClass(pictures[doc], pictures[original]);
    if (!isExpected && score >= Math.max(SURE_PART_SCORE, others.get(pair)?.score ?? 0))
      others.set(pair, { score, edit });
  }
  const strength = strengths.get(original) ?? 0;
  const copyScore = scoreOf('duplicate', distance(query.descriptor, pictures[original]?.descriptor as Float32Array));
  const byDescriptors = copyScore >= COPY_SCORE;
  return {
    isCandidate: strengths.has(original),
    byPoints: partScore(strength) >= SURE_PART_SCORE,
    byDescriptors,
    byEither: byDescriptors || partScore(strength, copyScore >= NEAR_PART_SCORE) >= SURE_PART_SCORE,
  };
}

function since(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return user + system;
}

function isSameClass(a: PictureFile | undefined, b: PictureFile | undefined): boolean {
  return a?.label !== '' && a?.label === b?.label;
}

function report(): void {
  const row = (name: string, of: readonly Found[], digits = two): string[] => [
    name,
    ...(['isCandidate', 'byPoints', 'byDescriptors', 'byEither'] as const).map((key) =>
      digits(of.filter((one) => one[key]).length / of.length),
    ),
  ];
  const rows = [
    ...PART_EDITS.map(({ name }) =>
      row(
        name,
        found.filter(({ edit }) => edit === name),
      ),
    ),
    row('all', found, three),
    ...[1, 2].map((half) =>
      row(
        `all of half ${half}`,
        found.filter((one) => one.half === half),
        three,
      ),
    ),
  ];
  const milliseconds = (all: number) => (all / 1_000 / found.length).toFixed(1);
  console.log(`${found.length} searches among ${pictures.length} pictures: ${milliseconds(cost.candidates)} ms of CPU each for candidates, ${milliseconds(cost.check)} ms to check them

${table(['edit', 'candidates', 'found by points', 'by descriptors', 'by either'], rows)}

${others.size} other pairs of ${((found.length * pictures.length) / 1e6).toFixed(1)} million, each once:`);
  for (const [pair, { score, edit }] of [...others].sort((a, b) => b[1].score - a[1].score)) {
    const [original, other] = pair.split(' ').map((doc) => pictures[Number(doc)]?.file);
    console.log(`${three(score)} ${original} (${edit}) ${other}`);
  }
}
