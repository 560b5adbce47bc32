import { promises as fs } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';
import { type Plan, planDemo } from './catalogue.ts';
import type { DemoDocument } from './draw-demo.ts';
import { EDITS } from './edits.ts';

/*
 * Run as a process: node draw.js <folder>. Writes a WebP for every document of the demo and finally documents.json, in
 * which `file` is relative to the folder.
 */

const WEBP = { quality: 82, effort: 6 };
/** Pictures drawn at the same time; sharp uses its own threads. */
const AT_A_TIME = 4;

const folder = process.argv[2];
if (!folder) throw new Error('Usage: node draw.js <folder>');
await drawAll(folder, planDemo());

async function drawAll(folder: string, plan: Plan): Promise<void> {
  sharp.concurrency(1);
  sharp.cache(false);
  await inParallel(plan.originals, async ({ id, draw }) => {
    await sharp(Buffer.from(draw().toString()))
      .flatten({ background: '#ffffff' })
      .webp(WEBP)
      .toFile(fileOf(folder, id));
  });
  await inParallel(plan.copies, async ({ id, of, edit }) => {
    const [, apply, quality] = EDITS.find(([name]) => name === edit) as (typeof EDITS)[number];
    const image = sharp(fileOf(folder, of));
    const { width, height } = await image.metadata();
    // Copies are saved as JPEG first, so that they have typical JPEG artefacts.
    const copy = await apply(image, { width, height }).jpeg({ quality }).toBuffer();
    await sharp(copy).webp(WEBP).toFile(fileOf(folder, id));
  });
  const documents: DemoDocument[] = [...plan.originals, ...plan.copies].map(({ id, fields }) => ({
    file: path.basename(fileOf(folder, id)),
    id,
    ...fields,
  }));
  const target = path.join(folder, 'documents.json');
  await fs.writeFile(`${target}.new`, JSON.stringify(documents, null, 1));
  await fs.rename(`${target}.new`, target);
}

function fileOf(folder: string, id: string): string {
  return path.join(folder, `${id}.webp`);
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}
