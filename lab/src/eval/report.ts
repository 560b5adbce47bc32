import type { CodeFigures, CopyCodeFigures } from './codes.ts';
import type { ColorFigures } from './color.ts';
import type { ContentFigures } from './content.ts';
import type { CopyFigures } from './copies.ts';
import type { CopyspaceFigures } from './copyspace.ts';

/**
 * The results for one folder, as in `figures.json`. Values that could not be measured are NaN here and null in the
 * file.
 */
export interface Report {
  readonly folder: string;
  readonly pictures: number;
  /**
   * All pictures; other parts refer to them by index. Paths are relative to the folder; an empty label is the folder
   * itself.
   */
  readonly files: readonly { readonly file: string; readonly label: string }[];
  /** Files that are not readable pictures. */
  readonly skipped: readonly { readonly file: string; readonly why: string }[];
  /** The requested number of pictures. */
  readonly sample: number;
  readonly backend: string;
  /** The models of the descriptors. */
  readonly models: string;
  /** Null if there are fewer than two classes of two pictures. */
  readonly content: ContentFigures | null;
  readonly copies: CopyFigures;
  /** The edited pictures, and for each edit its score as a duplicate of its picture. */
  readonly edited: readonly {
    readonly picture: number;
    /** Index of the second picture of a collage. */
    readonly other: number;
    readonly seed: number;
    readonly scores: Readonly<Record<string, number>>;
  }[];
  readonly color: ColorFigures;
  readonly copyspace: CopyspaceFigures;
  readonly codes: Readonly<Record<string, CodeFigures>>;
  readonly copyCodes: CopyCodeFigures;
}

/** The results as Markdown tables. */
export function tablesOf(report: Report): string {
  const { content, copies, color, copyspace, codes, copyCodes, skipped } = report;
  const parts = [
    `# ${report.folder}: ${report.pictures} pictures`,
    `By ${report.models.replaceAll(',', ', ')}, on ${report.backend}.${
      skipped.length > 0
        ? ` ${count(skipped.length, 'file')} could not be read and ${skipped.length === 1 ? 'is' : 'are'} left out.`
        : ''
    } A dash stands where there are too few pictures.`,
  ];
  if (content === null) {
    parts.push(
      '## Content',
      'Not measured: this needs at least two classes, each in a separate folder, with two or more pictures in the sample. With many small classes, increase --sample.',
    );
  } else {
    parts.push(
      `## Content: ${content.pictures} pictures of ${content.classes} classes`,
      table(
        ['', 'mAP', 'precision@1'],
        Object.entries(content.figures).map(([name, { map, precisionAt1 }]) => [name, two(map), two(precisionAt1)]),
      ),
    );
  }
  parts.push(
    `## Copies: ${copies.copies} edits of ${count(report.edited.length, 'picture')}, ${copies.pairs} pairs of different pictures (${copies.sameScene.length} of one scene left out)`,
    table(
      ['copies found', 'at 1 false pair in 100,000', 'at 1 in a million', 'average precision'],
      Object.entries(copies.atFalsePairs).map(([name, { in100000, inMillion, averagePrecision }]) => [
        name,
        two(in100000),
        two(inMillion),
        two(averagePrecision),
      ]),
    ),
    ...resolution(copies.pairs),
    table(
      ['duplicate score from', 'copies found', 'false pairs a million'],
      copies.curve.map(({ score, found, falsePerMillion }) => [
        two(score),
        two(found),
        Number.isNaN(falsePerMillion) ? '–' : falsePerMillion.toFixed(1),
      ]),
    ),
    table(
      ['edit', 'found at 0.7', 'pHash, 1 in a million'],
      copies.byEdit.map(({ edit, found, pHash }) => [edit, two(found), two(pHash)]),
    ),
    '## Colour',
    table(
      ['ranking by one colour', 'rank correlation with its area', 'gain of the first 10'],
      Object.entries(color.ranking).map(([name, { correlation, gainAt10 }]) => [name, two(correlation), two(gainAt10)]),
    ),
    'Areas are by CIEDE2000, means over 16 colours; the gain is 1 when the ten pictures that hold most of a colour come first.',
    `Pixels are ${three(color.palettes.own)} from the nearest colour of the palette, of k-means in OKLab of as many colours ${three(color.palettes.kMeans)} (0.02 is just noticeable).`,
    '## Copyspace',
    `Drawn cells: precision ${two(copyspace.precision)}, recall ${two(copyspace.recall)}. Real pictures at half size and JPEG 50: ${two(copyspace.stability)} of the cells stay.`,
    '## Codes',
    table(
      ['of the 10 nearest, found in', 'own cell', '8 cells', '16 cells', '50 by lopq', '2 % by rerank'],
      Object.entries(codes).map(([name, one]) => [
        name,
        two(one.inOwnCell),
        two(one.inCells8),
        two(one.inCells16),
        two(one.inLopq50),
        two(one.inRerank2Percent),
      ]),
    ),
    `Of the edits that score 0.7 or more, the share whose picture is in the 8 nearest cells is ${two(copyCodes.inCells8)}, among the nearest 2 % by rerank in ${two(copyCodes.inRerank2Percent)}.`,
  );
  return `${parts.join('\n\n')}\n`;
}

/** With too few pairs, the rate of false pairs cannot be measured. */
function resolution(pairs: number): string[] {
  if (pairs >= 1e6) return [];
  const both = pairs < 1e5 ? 'The first two columns give' : 'The second column gives';
  return [`${both} the copies that are nearer than every false pair: ${pairs} pairs are too few for lower rates.`];
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
/** Formats a number for tables and sheets with two digits; a dash for NaN. */
export const two = (value: number) => (Number.isFinite(value) ? value.toFixed(2) : '–');
export const three = (value: number) => (Number.isFinite(value) ? value.toFixed(3) : '–');

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
