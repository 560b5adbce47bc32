import type { CodeFigures, CopyCodeFigures } from './codes.ts';
import type { ColorFigures } from './color.ts';
import type { ContentFigures } from './content.ts';
import type { CopyFigures } from './copies.ts';
import type { CopyspaceFigures } from './copyspace.ts';

/** The figures of one folder. */
export interface Report {
  readonly folder: string;
  readonly pictures: number;
  readonly content: ContentFigures | null;
  readonly copies: CopyFigures;
  readonly color: ColorFigures;
  readonly copyspace: CopyspaceFigures;
  readonly codes: Readonly<Record<string, CodeFigures>>;
  readonly copyCodes: CopyCodeFigures;
}

/** The figures as tables of Markdown. */
export function tablesOf(report: Report): string {
  const { content, copies, color, copyspace, codes, copyCodes } = report;
  const parts = [`# ${report.folder}: ${report.pictures} pictures`];
  if (content) {
    parts.push(
      `## Content: ${content.pictures} pictures of ${content.classes} classes`,
      table(
        ['', 'mAP', 'precision@1'],
        Object.entries(content.figures).map(([name, { map, precisionAt1 }]) => [name, two(map), two(precisionAt1)]),
      ),
    );
  }
  parts.push(
    `## Copies: ${copies.copies} edits, ${copies.pairs} pairs of different pictures (${copies.sameScene.length} of one scene left out)`,
    table(
      ['copies found', 'at 1 false pair in 100,000', 'at 1 in a million', 'average precision'],
      Object.entries(copies.atFalsePairs).map(([name, { in100000, inMillion, averagePrecision }]) => [
        name,
        two(in100000),
        two(inMillion),
        two(averagePrecision),
      ]),
    ),
    table(
      ['duplicate score from', 'copies found', 'false pairs a million'],
      copies.curve.map(({ score, found, falsePerMillion }) => [two(score), two(found), falsePerMillion.toFixed(1)]),
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
    `Pixels are ${color.palettes.own.toFixed(3)} from the nearest colour of the palette, of k-means of as many colours ${color.palettes.kMeans.toFixed(3)} (0.02 is just noticeable).`,
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
    `Of the edits that score 0.7 or more, the picture lies in the 8 nearest cells in ${two(copyCodes.inCells8)}, among the nearest 2 % by rerank in ${two(copyCodes.inRerank2Percent)}.`,
  );
  return `${parts.join('\n\n')}\n`;
}

const two = (value: number) => (Number.isNaN(value) ? '–' : value.toFixed(2));

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
