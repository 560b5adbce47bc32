import { parseDate } from '@akin/domain';
import { type CsvOptions, type CsvRow, isText, numberIn } from './read-csv.ts';
import type { ColumnType } from './table-columns.ts';

/** The types that a text can have, in the order in which they are preferred. */
const PARSED = ['long', 'double', 'boolean', 'date'] as const;
type Parsed = (typeof PARSED)[number];

/** A column of texts, of which most look like values of another type. */
export interface DoubtfulColumn {
  readonly name: string;
  readonly type: Parsed;
  /** The first value that is not of this type. */
  readonly line: number;
  readonly cell: string;
}

interface Column {
  possible: readonly Parsed[];
  values: number;
  readonly fitting: Record<Parsed, number>;
  readonly misfits: Map<Parsed, { readonly line: number; readonly cell: string }>;
}

/** Number of values of each column that are compared with all types: later ones only with those that are left. */
const SAMPLED = 1000;
/** With fewer values, one of another type says little. */
const MIN_VALUES = 10;

/**
 * The types of the columns of a CSV file: for each column, the type that all its values have in common, which is String
 * if there is no other. Lists are of strings. Columns without values and columns of the other kind have none.
 */
export async function columnTypes(
  rows: AsyncIterable<CsvRow>,
  options: Pick<CsvOptions, 'lists' | 'columns' | 'decimalComma'>,
): Promise<{ readonly types: Map<string, ColumnType>; readonly doubtful: readonly DoubtfulColumn[] }> {
  const found = new Map<string, Column>();
  for await (const { names, cells, number } of rows) {
    if (cells.length !== names.length) continue;
    for (const [at, name] of names.entries()) {
      const cell = cells[at] as string;
      if (cell === '' || isText(name, options.columns)) continue;
      const column = found.get(name) ?? emptyColumn();
      found.set(name, column);
      if (!options.lists.has(name)) addValue(column, cell, number, options.decimalComma);
    }
  }
  const types = new Map<string, ColumnType>();
  const doubtful: DoubtfulColumn[] = [];
  for (const [name, column] of found) {
    const [type = 'string'] = column.possible;
    types.set(name, options.lists.has(name) ? 'string[]' : type);
    const nearly = type === 'string' ? nearlyAll(column) : undefined;
    const misfit = nearly && column.misfits.get(nearly);
    if (nearly && misfit) doubtful.push({ name, type: nearly, ...misfit });
  }
  return { types, doubtful };
}

function emptyColumn(): Column {
  return { possible: PARSED, values: 0, fitting: { long: 0, double: 0, boolean: 0, date: 0 }, misfits: new Map() };
}

function addValue(column: Column, cell: string, line: number, decimalComma: boolean): void {
  const compared = column.values < SAMPLED ? PARSED : column.possible;
  if (compared.length === 0) return;
  column.values++;
  for (const type of compared) {
    if (isOf(type, cell, decimalComma)) column.fitting[type]++;
    else if (!column.misfits.has(type)) column.misfits.set(type, { line, cell });
  }
  column.possible = column.possible.filter((type) => !column.misfits.has(type));
}

/** The type of at least nine of ten values. */
function nearlyAll({ values, fitting }: Column): Parsed | undefined {
  const [best] = [...PARSED].sort((a, b) => fitting[b] - fitting[a]);
  return best !== undefined && values >= MIN_VALUES && fitting[best] >= 0.9 * values ? best : undefined;
}

function isOf(type: Parsed, cell: string, decimalComma: boolean): boolean {
  switch (type) {
    case 'boolean':
      return cell === 'true' || cell === 'false';
    case 'date':
      return parseDate(cell) !== null;
    default: {
      const number = numberIn(cell, decimalComma);
      return number !== undefined && (type === 'double' || !number.includes('.'));
    }
  }
}
