import { open, stat } from 'node:fs/promises';
import { badRequest } from '@akin/domain';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { InputPosition, Line } from './line.ts';
import { type ColumnType, requireColumns, type TableColumns } from './table-columns.ts';

const MAGIC = 'PAR1';
/** Uncompressed bytes of the rows that are read at a time. */
const SLICE_BYTES = 32 * 1024 ** 2;
/** Maximum bytes of a row group: without page indexes, a group is read as a whole for each of its slices. */
const MAX_GROUP_BYTES = 1024 ** 3;

/**
 * Whether a file begins like a Parquet file. False for a pipe, because opening it would take its data from the real
 * reader.
 */
export async function isParquet(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) return false;
  const handle = await open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return bytesRead === MAGIC.length && buffer.toString('latin1') === MAGIC;
  } finally {
    await handle.close();
  }
}

/**
 * The columns of a Parquet file that contain numbers with fractions. The first of them may be whole, which would make
 * the field a Long.
 *
 * @throws AkinError bad-request for a broken file, and for one without these columns
 */
export async function parquetTypes(file: string, required: TableColumns): Promise<Map<string, ColumnType>> {
  const buffer = await asyncBufferFromFile(file);
  const metadata = await withFormatErrors(() => parquetMetadataAsync(buffer));
  const columns = parquetSchema(metadata).children.map(({ element }) => element);
  requireColumns(
    columns.map(({ name }) => name),
    required,
  );
  const decimals = columns.filter(
    ({ type, converted_type, logical_type }) =>
      type === 'DOUBLE' ||
      type === 'FLOAT' ||
      converted_type === 'DECIMAL' ||
      ['DECIMAL', 'FLOAT16'].includes(logical_type?.type ?? ''),
  );
  return new Map(decimals.map(({ name }) => [name, 'double']));
}

/**
 * The rows of a Parquet file as documents: each column is a field, null means no value, bytes are base64, a struct
 * is its JSON (so that `import` may be one).
 *
 * @throws AkinError bad-request for a broken file, and for groups of rows that are too large to be read
 */
export async function* readParquet(file: string, start: InputPosition): AsyncGenerator<Line> {
  const buffer = await asyncBufferFromFile(file);
  const metadata = await withFormatErrors(() => parquetMetadataAsync(buffer));
  let before = 0;
  for (const [group, { num_rows, total_byte_size }] of metadata.row_groups.entries()) {
    const end = before + Number(num_rows);
    if (total_byte_size > MAX_GROUP_BYTES) {
      const size = `${Math.ceil(Number(total_byte_size) / 1024 ** 2)} MB`;
      throw badRequest(
        `Row group ${group + 1} of the Parquet file has ${size}; at most 1024 MB are read. Write it with smaller row groups.`,
      );
    }
    const slice = Math.max(1, Math.floor((Number(num_rows) * SLICE_BYTES) / Math.max(1, Number(total_byte_size))));
    for (let rowStart = Math.max(before, start.lines); rowStart < end; rowStart += slice) {
      const range = { rowStart, rowEnd: Math.min(end, rowStart + slice) };
      // Only columns that the file declares as text are decoded as text.
      const options = { file: buffer, metadata, compressors, useOffsetIndex: true, utf8: false, ...range };
      const rows = await withFormatErrors(() => parquetReadObjects(options));
      for (const [i, row] of rows.entries()) {
        yield { number: rowStart + i + 1, bytes: Buffer.from(documentOf(row)), start: 0, end: 0 };
      }
    }
    before = end;
  }
}

async function withFormatErrors<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    // Errors of the disk have a code. Errors of the format have none.
    if ((error as NodeJS.ErrnoException).code !== undefined) throw error;
    throw badRequest(`The Parquet file cannot be read: ${(error as Error).message}`);
  }
}

function documentOf(row: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(row).flatMap(([name, value]) => {
    const json = jsonOf(value);
    if (json === undefined) return [];
    const isStruct = json.startsWith('{');
    return [`${JSON.stringify(name)}:${isStruct ? JSON.stringify(json) : json}`];
  });
  return `{${members.join(',')}}`;
}

/** Whole numbers keep all their digits; NaN and infinity become no value. */
function jsonOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : JSON.stringify(value);
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return `[${Array.from(value as unknown as Iterable<unknown>, (element) => jsonOf(element) ?? 'null').join(',')}]`;
  }
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([name, member]) => {
    const json = jsonOf(member);
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`];
  });
  return `{${members.join(',')}}`;
}
