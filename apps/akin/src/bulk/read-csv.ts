import { pipeline, Readable } from 'node:stream';
import { badRequest } from '@akin/domain';
import { CsvError, parse } from 'csv-parse';
import { type InputPosition, type Line, LONGEST_LINE } from './line.ts';
import { type ColumnType, requireColumns, type TableColumns } from './table-columns.ts';

export interface CsvOptions {
  readonly separator: string;
  readonly lists: ReadonlySet<string>;
  readonly listSeparator: string;
  readonly columns: TableColumns;
  /** Numbers have a decimal comma, and maybe dots between thousands: `1.234,50`. */
  readonly decimalComma: boolean;
  /** What all values of a column have in common. Without a type, each cell is read by itself. */
  readonly types?: ReadonlyMap<string, ColumnType>;
}

export interface CsvRow {
  readonly names: readonly string[];
  readonly cells: readonly string[];
  readonly number: number;
  /** Bytes of the unpacked input before the row, and with it. */
  readonly start: number;
  readonly end: number;
}

const NEWLINE = 0x0a;
/**
 * JSON numbers. Whole numbers with more digits than 64 bits can represent are text: they are codes, for example article
 * numbers.
 */
const NUMBER = /^-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?$/;
const NUMBER_WITH_COMMA = /^-?(?:0|[1-9][0-9]{0,17}|[1-9][0-9]{0,2}(?:\.[0-9]{3}){1,5})(?:,[0-9]{1,17})?$/;

/**
 * The rows of a CSV file (RFC 4180) as documents. The first row names the fields. An empty cell means no value.
 * Numbers, `true` and `false` become JSON values, everything else is text; akin converts both to the type of an
 * existing field. The number of a row is that of its last line.
 *
 * @throws AkinError bad-request if the file is not CSV, or its first row does not name the columns
 */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  start: InputPosition,
  options: CsvOptions,
): AsyncGenerator<Line> {
  for await (const row of readRows(chunks, options)) if (row.number > start.lines) yield lineOf(row, options);
}

/** The rows after the first one, as they are. @throws AkinError as {@link readCsv} */
export async function* readRows(
  chunks: AsyncIterable<Buffer>,
  { separator, columns }: Pick<CsvOptions, 'separator' | 'columns'>,
): AsyncGenerator<CsvRow> {
  const rows = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    delimiter: separator,
    max_record_size: LONGEST_LINE,
  });
  // The loop throws the errors of the pipeline.
  pipeline(Readable.from(requireUtf8(chunks)), rows, () => {});
  let names: readonly string[] | undefined;
  let start = 0;
  type Parsed = { record: string[]; info: { lines: number; bytes: number } };
  try {
    for await (const { record, info } of rows as AsyncIterable<Parsed>) {
      if (names === undefined) {
        names = columnNames(record, separator);
        requireColumns(names, columns);
      } else yield { names, cells: record, number: info.lines, start, end: info.bytes };
      start = info.bytes;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw badRequest(`The file is not CSV: ${error.message}.`);
  }
}

export function numberIn(cell: string, decimalComma: boolean): string | undefined {
  if (!decimalComma) return NUMBER.test(cell) ? cell : undefined;
  return NUMBER_WITH_COMMA.test(cell) ? cell.replaceAll('.', '').replace(',', '.') : undefined;
}

/**
 * The chunks as they are. The parser would replace what is not UTF-8. UTF-16 passes if it begins with its byte order
 * mark, which the parser knows.
 *
 * @throws AkinError bad-request that names the line
 */
async function* requireUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isUtf16: boolean | undefined;
  let line = 1;
  const check = (bytes?: Buffer) => {
    try {
      decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw badRequest(
        `Line ${line} of the CSV file is not UTF-8. Save the file as UTF-8, or convert it: iconv -f WINDOWS-1252 -t UTF-8`,
        { cause },
      );
    }
  };
  for await (const chunk of chunks) {
    isUtf16 ??= chunk[0] === 0xff && chunk[1] === 0xfe;
    for (let from = 0; !isUtf16 && from < chunk.length; line += 1) {
      const end = chunk.indexOf(NEWLINE, from);
      check(chunk.subarray(from, end < 0 ? chunk.length : end + 1));
      if (end < 0) break;
      from = end + 1;
    }
    yield chunk;
  }
  check();
}

const SEPARATORS: Readonly<Record<string, string>> = {
  ',': "--separator ','",
  ';': "--separator ';'",
  '\t': "--separator $'\\t', or name the file .tsv",
};

function columnNames(row: readonly string[], separator: string): readonly string[] {
  const other = Object.keys(SEPARATORS).find((one) => one !== separator && row[0]?.includes(one));
  if (row.length === 1 && other !== undefined) {
    const cell = JSON.stringify(row[0]?.slice(0, 60));
    throw badRequest(
      `The first row of the CSV file must name the columns, but it has only one cell: ${cell}. Use ${SEPARATORS[other]}.`,
    );
  }
  const names = row.map((name) => name.trim());
  const wrong = names.find((name, i) => name === '' || names.indexOf(name) !== i);
  if (wrong === undefined) return names;
  const problem = wrong === '' ? 'has an empty name' : `names the column ${JSON.stringify(wrong)} twice`;
  throw badRequest(`The first row of the CSV file must name the columns, but it ${problem}.`);
}

/** A row with more or fewer cells than names is not sent: its values would be in the wrong fields. */
function lineOf({ names, cells, number, start, end }: CsvRow, options: CsvOptions): Line {
  if (cells.length !== names.length) {
    const problem = `The row has ${cells.length} cells, the first row has ${names.length}.`;
    return { number, bytes: undefined, problem, start, end };
  }
  const members = cells.flatMap((cell, i) => {
    const name = names[i] ?? '';
    return cell === '' ? [] : [`${JSON.stringify(name)}:${jsonOf(name, cell, options)}`];
  });
  return { number, bytes: Buffer.from(`{${members.join(',')}}`), start, end };
}

/** The values of these fields are text, even if they look like numbers. */
const TEXTS = new Set(['id', 'image', 'import', 'thumbnail']);

export function isText(name: string, { id, picture }: TableColumns): boolean {
  return TEXTS.has(name) || name === id || name === picture;
}

function jsonOf(
  name: string,
  cell: string,
  { lists, listSeparator, columns, types, decimalComma }: CsvOptions,
): string {
  const literal = (text: string) => literalOf(text, decimalComma);
  // A separator at the end or twice in a row separates no values.
  if (lists.has(name)) return `[${cell.split(listSeparator).filter(Boolean).map(literal).join(',')}]`;
  return isText(name, columns) || types?.get(name) === 'string' ? JSON.stringify(cell) : literal(cell);
}

function literalOf(text: string, decimalComma: boolean): string {
  return text === 'true' || text === 'false' ? text : (numberIn(text, decimalComma) ?? JSON.stringify(text));
}
