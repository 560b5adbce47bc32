import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { MODULES } from '@akin/modules/manifests';
import { modelNames } from '@akin/modules/vectors';
import type { PictureFile } from '../learn/picture-files.ts';
import { measureCodes, measureCopyCodes } from './codes.ts';
import { measureColor } from './color.ts';
import { measureContent } from './content.ts';
import { type Edited, measureCopies, scoreOfCopy } from './copies.ts';
import { measureCopyspace } from './copyspace.ts';
import { type DescribedPicture, openDescribe } from './describe.ts';
import { describeEdits } from './edited.ts';
import type { EvalOptions } from './options.ts';
import { type Report, tablesOf } from './report.ts';
import { drawSheets } from './sheets.ts';

/** Number of drawn pictures with known copyspace. */
const DRAWN = 100;

interface Sample {
  readonly folder: string;
  /** The folder for figures and pictures. */
  readonly results: string;
  readonly files: readonly PictureFile[];
}

/**
 * Measures a sample and writes `figures.md`, `figures.json`, `pictures.md` and the pictures for it.
 *
 * @throws {Error} for the user when fewer than two of the files are pictures, or results cannot be written.
 */
export async function evaluate({ folder, results, files }: Sample, options: EvalOptions): Promise<void> {
  const describe = await openDescribe(options.backend, options.contentModel);
  // Report an error now and not after minutes of work.
  await mkdir(results, { recursive: true }).catch(({ code }) => {
    throw new Error(`The folder ${results} cannot be made (${code}): name another one with --out.`);
  });
  const skipped: { file: string; why: string }[] = [];
  const pictures: DescribedPicture[] = [];
  for (const [i, one] of files.entries()) {
    try {
      pictures.push({ ...one, ...(await describe(await readFile(one.file))) });
    } catch (error) {
      const { message } = error as Error;
      skipped.push({ file: relative(folder, one.file), why: message });
      console.error(`${one.file}: ${message}`);
    }
    if ((i + 1) % 100 === 0 || i + 1 === files.length) console.error(`${folder}: ${i + 1} of ${files.length} files`);
  }
  if (pictures.length < 2) {
    throw new Error(
      `Of the ${files.length} files of ${folder} ${pictures.length} can be read: two or more can be compared.`,
    );
  }
  const edited = await describeEdits(pictures, options.edited, describe, (done, all) => {
    if (done % 10 === 0 || done === all) console.error(`${folder}: ${done} of ${all} pictures edited`);
  });
  console.error(`${folder}: comparing`);
  const report = await measure(folder, pictures, edited, skipped, options);
  await writeFile(join(results, 'figures.json'), JSON.stringify(report, null, 1));
  await writeFile(join(results, 'figures.md'), tablesOf(report));
  console.log(tablesOf(report));
  await drawSheets(results, report, pictures);
  console.log(`Figures and pictures to look at (pictures.md): ${results}\n`);
}

async function measure(
  folder: string,
  pictures: readonly DescribedPicture[],
  edited: readonly Edited[],
  skipped: Report['skipped'],
  { backend, sample }: EvalOptions,
): Promise<Report> {
  const vectors = pictures.map((one) => one.vectors);
  return {
    folder,
    pictures: pictures.length,
    files: pictures.map(({ file, label }) => ({ file: relative(folder, file), label })),
    skipped,
    sample,
    backend,
    models: modelNames(),
    content: measureContent(pictures),
    copies: measureCopies(vectors, edited),
    edited: edited.map(({ picture, other, seed, edits }) => ({
      picture,
      other,
      seed,
      scores: Object.fromEntries(edits.map((edit) => [edit.name, scoreOfCopy(vectors[picture], edit.vectors)])),
    })),
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
}
