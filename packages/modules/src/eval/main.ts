/**
 * `npm run eval -- <folder…> [--sample 500] [--edited 50] [--out <folder>] [--backend onnx]`: how good the outputs are on pictures of your
 * own. Folders below a folder are its classes. Writes tables, JSON and pictures to look at.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { MODULES } from '../manifests.ts';
import type { Backend } from '../network/backend.ts';
import { type Bitmap, readBitmap } from './bitmap.ts';
import { measureCodes, measureCopyCodes } from './codes.ts';
import { measureColor } from './color.ts';
import { measureContent } from './content.ts';
import { type Edited, measureCopies } from './copies.ts';
import { measureCopyspace } from './copyspace.ts';
import { type Described, describe } from './describe.ts';
import { EDITS, makeEdits } from './edits.ts';
import { type PictureFile, sampleFolder } from './pictures.ts';
import { type Report, tablesOf } from './report.ts';
import { writeSheet } from './sheet.ts';

const EDIT_SIDE = 640;
const SHEET_SIDE = 224;
const DRAWN = 100;
const SHEET_ROWS = 12;

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '500' },
    edited: { type: 'string', default: '50' },
    out: { type: 'string', default: 'eval-results' },
    backend: { type: 'string', default: 'wasm' },
  },
});
const backend = options.backend as Backend;
const sample = Number(options.sample);
const editedCount = Number(options.edited);
if (positionals.length === 0 || !(sample >= 20) || !(editedCount >= 1)) {
  console.error('Usage: npm run eval -- <folder…> [--sample 500] [--edited 50] [--out eval-results] [--backend wasm]');
  process.exit(1);
}

for (const folder of positionals) await evaluate(folder);

async function evaluate(folder: string): Promise<void> {
  const pictures: (PictureFile & Described)[] = [];
  for (const one of await sampleFolder(folder, sample)) {
    try {
      pictures.push({ ...one, ...(await describe(await readFile(one.file), backend)) });
    } catch (error) {
      console.warn(`${one.file}: ${error instanceof Error ? error.message : error}`);
    }
    if (pictures.length % 100 === 0) console.error(`${pictures.length} pictures described`);
  }
  const edited = await makeEdited(pictures);
  const counts = new Map<string, number>();
  for (const { label } of pictures) counts.set(label, (counts.get(label) ?? 0) + 1);
  const labelled = pictures.filter(({ label }) => (counts.get(label) ?? 0) > 1);
  const vectors = pictures.map((one) => one.vectors);
  const report: Report = {
    folder: basename(resolve(folder)),
    pictures: pictures.length,
    content: counts.size > 1 ? measureContent(labelled) : null,
    copies: measureCopies(vectors, edited),
    color: measureColor(pictures),
    copyspace: await measureCopyspace(
      pictures.map(({ pixels }) => pixels),
      DRAWN,
    ),
    codes: Object.fromEntries(
      MODULES.filter(({ descriptor }) => descriptor !== undefined).map(({ name }) => [
        name,
        measureCodes(
          name,
          vectors.map((one) => one[name] as Float32Array),
        ),
      ]),
    ),
    copyCodes: measureCopyCodes(vectors, edited),
  };
  const out = join(options.out, report.folder);
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'figures.json'), JSON.stringify(report, null, 1));
  await writeFile(join(out, 'figures.md'), tablesOf(report));
  console.log(tablesOf(report));
  await writeSheets(out, report, pictures, labelled);
  console.log(`Figures and pictures to look at: ${out}`);
}

async function makeEdited(pictures: readonly PictureFile[]): Promise<Edited[]> {
  const edited: Edited[] = [];
  const count = Math.min(editedCount, pictures.length);
  for (let i = 0; i < count; i++) {
    const picture = Math.floor((i * pictures.length) / count);
    const other = (picture + 1) % pictures.length;
    const read = async (index: number) => readBitmap(await readFile(pictures[index]?.file as string), EDIT_SIDE);
    const images = await makeEdits(await read(picture), await read(other), i + 1);
    const edits: { name: string; vectors: Described['vectors'] }[] = [];
    for (const [k, bytes] of images.entries()) {
      edits.push({ name: EDITS[k]?.name as string, vectors: (await describe(bytes, backend)).vectors });
    }
    edited.push({ picture, other, edits });
    if ((i + 1) % 10 === 0) console.error(`${i + 1} of ${count} pictures edited`);
  }
  return edited;
}

async function writeSheets(
  out: string,
  { copies, content }: Report,
  pictures: readonly PictureFile[],
  labelled: readonly PictureFile[],
): Promise<void> {
  const show = async (one: PictureFile | undefined): Promise<Bitmap> =>
    readBitmap(await readFile(one?.file as string), SHEET_SIDE);
  const pairs = (list: readonly { a: number; b: number }[]) =>
    Promise.all(list.slice(0, SHEET_ROWS).map(({ a, b }) => Promise.all([show(pictures[a]), show(pictures[b])])));
  await writeSheet(join(out, 'nearest-strangers.png'), await pairs(copies.nearestStrangers));
  await writeSheet(join(out, 'same-scene.png'), await pairs(copies.sameScene));
  if (content === null) return;
  const sorted = content.each.toSorted((a, b) => b.precision - a.precision);
  const rows = (list: typeof sorted) =>
    Promise.all(list.map(({ picture, nearest }) => Promise.all([picture, ...nearest].map((i) => show(labelled[i])))));
  await writeSheet(join(out, 'content-best.png'), await rows(sorted.slice(0, SHEET_ROWS)));
  await writeSheet(join(out, 'content-worst.png'), await rows(sorted.slice(-SHEET_ROWS)));
}
