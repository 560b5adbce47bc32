import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COPY_SCORE } from '@akin/modules/internal/duplicate/copy-score';
import { evenSample } from '@akin/modules/internal/learn/sample-folder';
import { type Bitmap, blank, readBitmap } from './bitmap.ts';
import type { DescribedPicture } from './describe.ts';
import { editsOf } from './edited.ts';
import { EDITS } from './edits.ts';
import { type Report, three, two } from './report.ts';
import { writeSheet } from './sheet.ts';

/** Rows of pictures that belong together, with a line of text for each. */
interface Sheet {
  readonly name: string;
  readonly about: string;
  readonly rows: readonly { readonly tiles: readonly Bitmap[]; readonly caption: string }[];
}

const SIDE = 224;
const ROWS = 12;
/** Maximum pictures of a row after the first. */
const MORE = 7;
const PALETTES = 24;

/** Draws contact sheets into a folder, and writes `pictures.md`, which shows and describes them. */
export async function drawSheets(
  results: string,
  report: Report,
  pictures: readonly DescribedPicture[],
): Promise<void> {
  const sheets = [
    ...(await contentSheets(report, pictures)),
    await pairs(
      report,
      pictures,
      'nearest-non-matching',
      'Different pictures that come nearest to being taken for copies; from 0.7 on they are false merges.',
      report.copies.nearestNonMatching,
    ),
    await pairs(
      report,
      pictures,
      'same-scene',
      'Pairs of one scene, which are counted neither as copies nor as non-matching pairs.',
      report.copies.sameScene,
    ),
    await missedCopies(report, pictures),
    await byColor(report, pictures),
    await palettes(pictures),
    await copyspace(pictures),
  ];
  const lines = [`# ${report.folder}: pictures to look at`];
  for (const { name, about, rows } of sheets) {
    const file = join(results, `${name}.png`);
    // A file of an earlier run shows other pictures.
    await rm(file, { force: true });
    if (rows.length === 0) continue;
    await writeSheet(
      file,
      rows.map(({ tiles }) => tiles),
    );
    lines.push(
      `## ${name}.png`,
      about,
      `![${name}](${name}.png)`,
      rows.flatMap(({ caption }) => (caption ? [`1. ${caption}`] : [])).join('\n'),
    );
  }
  await writeFile(join(results, 'pictures.md'), `${lines.join('\n\n')}\n`);
}

const nameOf = (report: Report, picture: number) => `\`${report.files[picture]?.file}\``;

async function show(picture: DescribedPicture | undefined): Promise<Bitmap> {
  return readBitmap(await readFile(picture?.file as string), SIDE);
}

async function contentSheets(report: Report, pictures: readonly DescribedPicture[]): Promise<Sheet[]> {
  const sorted = (report.content?.each ?? []).toSorted((a, b) => b.precision - a.precision);
  const sheet = async (name: string, about: string, list: typeof sorted): Promise<Sheet> => ({
    name,
    about,
    rows: await Promise.all(
      list.map(async ({ picture, precision, nearest }) => ({
        tiles: await Promise.all([picture, ...nearest].map((i) => show(pictures[i]))),
        caption: `${nameOf(report, picture)}: ${precision.toFixed(2)}`,
      })),
    ),
  });
  return [
    await sheet(
      'content-best',
      'Pictures and what is nearest by content: the highest average precisions.',
      sorted.slice(0, ROWS),
    ),
    await sheet('content-worst', 'The lowest ones, the worst first.', sorted.slice(-ROWS).reverse()),
  ];
}

async function pairs(
  report: Report,
  pictures: readonly DescribedPicture[],
  name: string,
  about: string,
  list: readonly { a: number; b: number; score: number }[],
): Promise<Sheet> {
  const rows = list.slice(0, ROWS).map(async ({ a, b, score }) => ({
    tiles: await Promise.all([show(pictures[a]), show(pictures[b])]),
    caption: `${score.toFixed(2)}: ${nameOf(report, a)} and ${nameOf(report, b)}`,
  }));
  return { name, about, rows: await Promise.all(rows) };
}

/** Pictures with edits that score below 0.7, highest scores first. */
async function missedCopies(report: Report, pictures: readonly DescribedPicture[]): Promise<Sheet> {
  const rows = [];
  for (const { picture, other, seed, scores } of evenSample(ROWS, report.edited)) {
    const missed = EDITS.map(({ name }, i) => ({ name, i, score: scores[name] as number }))
      .filter(({ score }) => score < COPY_SCORE)
      .sort((a, b) => b.score - a.score)
      .slice(0, MORE);
    const images = await editsOf(pictures, picture, other, seed);
    rows.push({
      tiles: await Promise.all([
        show(pictures[picture]),
        ...missed.map(({ i }) => readBitmap(images[i] as Buffer, SIDE)),
      ]),
      caption: `${nameOf(report, picture)}: ${missed.map(({ name, score }) => `${name} ${three(score)}`).join(', ') || 'all found'}`,
    });
  }
  return { name: 'copies-missed', about: 'Pictures and those of their edits that score below 0.7 with them.', rows };
}

async function byColor({ color }: Report, pictures: readonly DescribedPicture[]): Promise<Sheet> {
  const rows = color.byHex.map(async ({ hex, gainAt10, nearest }) => ({
    tiles: [swatch(hex), ...(await Promise.all(nearest.slice(0, MORE).map((i) => show(pictures[i]))))],
    caption: `${hex}: gain ${two(gainAt10)}`,
  }));
  return { name: 'colors', about: 'What comes first when ranked by one colour.', rows: await Promise.all(rows) };
}

async function palettes(pictures: readonly DescribedPicture[]): Promise<Sheet> {
  const rows = evenSample(PALETTES, pictures).map(async (picture) => {
    const { values } = picture;
    const hexes = values.color_palette_hex as readonly string[];
    const names = (values.color_names as readonly string[]).join(', ');
    return {
      tiles: [await show(picture), ...hexes.map(swatch)],
      caption: `${names}${values.color_isolated ? '; isolated' : ''}`,
    };
  });
  return {
    name: 'palettes',
    about: 'Pictures, their palettes and the names of its colours.',
    rows: await Promise.all(rows),
  };
}

/** Cells that are not calm are darkened. */
async function copyspace(pictures: readonly DescribedPicture[]): Promise<Sheet> {
  const shown = evenSample(ROWS * (MORE + 1), pictures);
  const rows = [];
  for (let from = 0; from < shown.length; from += MORE + 1) {
    const tiles = shown.slice(from, from + MORE + 1).map(async (picture) => {
      const { width, height, data } = await show(picture);
      const free = picture.values.copyspace as readonly number[];
      const dimmed = Uint8Array.from(data, (value, i) => {
        const [x, y] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width)];
        const cell = 3 * Math.floor((3 * y) / height) + Math.floor((3 * x) / width);
        return free.includes(cell) ? value : value >> 2;
      });
      return { width, height, data: dimmed };
    });
    rows.push({ tiles: await Promise.all(tiles), caption: '' });
  }
  return { name: 'copyspace', about: 'Bright cells have free space for text.', rows };
}

function swatch(hex: string): Bitmap {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return blank(SIDE, SIDE, [red, green, blue]);
}
