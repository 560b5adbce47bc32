import { parseDate } from '@akin/domain';
import { type CsvOptions, type CsvRow, isText, numberIn } from './read-csv.ts';
import type { ColumnType } from './table-columns.ts';

/** The types that a text can have, in the order in which they are preferred. */
const PARSED = ['long', 'double', 'boolean', 'date'] as const;

/**
 * The types of the columns of a CSV file: for each column, the type that all its values have in common, which is String
 * if there is no other. Columns without values, lists and columns of the other kind have none.
 */
export async function columnTypes(
  rows: AsyncIterable<CsvRow>,
  options: Pick<CsvOptions, 'lists' | 'columns' | 'decimalComma'>,
): Promise<Map<string, ColumnType>> {
  const possible = new Map<string, readonly ColumnType[]>();
  for await (const { names, cells } of rows) {
    if (cells.length !== names.length) continue;
    for (const [at, name] of names.entries()) {
      const cell = cells[at] as string;
      const left = possible.get(name) ?? PARSED;
      if (cell === '' || left.length === 0) continue;
      possible.set(
        name,
        left.filter((type) => isOf(type, cell, options.decimalComma)),
      );
    }
  }
  const typed = [...possible].filter(([name]) => !options.lists.has(name) && !isText(name, options.columns));
  return new Map(typed.map(([name, [type = 'string']]) => [name, type]));
}

function isOf(type: ColumnType, cell: string, decimalComma: boolean): boolean {
  switch (type) {
    case 'boolean':
      return cell === 'true' || cell === 'false';
    case 'date':
      return parseDate(cell) !== null;
    case 'string':
      return true;
    default: {
      const number = numberIn(cell, decimalComma);
      return number !== undefined && (type === 'double' || !number.includes('.'));
    }
  }
}
