import path from 'node:path';
import { type Collection, KeyError } from '@akin/client';
import { PLACE_FIELDS } from '@akin/domain';
import { parseModulesApply } from '@akin/modules/manifests';
import { analysisConfig } from '../commands/analysis-options.ts';
import { splitList } from '../fleet/options.ts';
import { modelOf } from '../folder/run-folders.ts';
import { ContentModels } from '../models/content-models.ts';
import { createModelAnalyzers } from '../models/model-analyzers.ts';
import { modelsFolder } from '../models/models-folder.ts';
import { type Option, type ParsedOptions, UsageError } from '../options.ts';
import { rememberFolders } from '../originals/indexed-folders.ts';
import { dataFolderAt } from '../server-file.ts';
import { columnTypes, type DoubtfulColumn } from './column-types.ts';
import type { ImportConfig } from './import-documents.ts';
import { findPictures, type LocalPictures, openPictures } from './local-pictures.ts';
import type { Server } from './options.ts';
import { readRows } from './read-csv.ts';
import { formatOf, readUnpacked } from './read-lines.ts';
import { isParquet, parquetTypes } from './read-parquet.ts';
import type { ColumnType } from './table-columns.ts';

export const TABLE_OPTIONS: readonly Option[] = [
  {
    name: 'id-column',
    valueName: 'name',
    description: 'Column (or member) with the ids of the documents',
    default: 'id',
  },
  {
    name: 'picture-column',
    valueName: 'name',
    description: 'Column (or member) with the pictures. This command analyzes files, akin fetches addresses',
  },
  {
    name: 'pictures',
    valueName: 'folder',
    description:
      'Folder of the files that the column of the pictures names, which akin then shows too. Default: the folder of the input',
  },
  {
    name: 'field',
    valueName: 'name:type,…',
    description:
      'Types of new fields, separated by commas; string[] is a list of strings. Default: what all values of a CSV column have in common',
  },
  { name: 'format', valueName: 'csv|ndjson', description: 'Format of the input. Default: by the name of the file' },
  {
    name: 'separator',
    valueName: 'character',
    description: 'Separator of CSV cells. Default: a comma, or a tab in .tsv files',
  },
  { name: 'decimal-comma', description: 'Numbers in CSV have a decimal comma: 1.234,50' },
  {
    name: 'lists',
    valueName: 'names',
    description:
      'CSV columns whose cells have several values; new fields become string[]. Default: those of fields defined as lists',
  },
  {
    name: 'list-separator',
    valueName: 'text',
    description: 'Separator of the values in such a cell, also of labels. Default: |, and only for --lists of labels',
  },
];

export interface Table extends Pick<ImportConfig, 'format' | 'fields'> {
  readonly cells: ImportConfig['cells'] & { readonly lists: Set<string>; readonly types?: Map<string, ColumnType> };
  readonly isTable: boolean;
  readonly doubtful?: readonly DoubtfulColumn[];
}

/**
 * How to read the input, by the options and the name of the file. The rows of a CSV file are read once for the types of
 * its columns.
 *
 * @param isFile whether it can be read twice
 * @throws UsageError; AkinError if the input cannot be read, or lacks a column
 */
export async function readTable(
  file: string,
  options: ParsedOptions,
  isFile: boolean,
  signal: AbortSignal,
): Promise<Table> {
  const format = options.text('format') ?? formatOf(file);
  if (format !== 'csv' && format !== 'ndjson') throw new UsageError('--format must be csv or ndjson.');
  const separator = options.text('separator') ?? (/\.tsv(\.gz)?$/i.test(file) ? '\t' : ',');
  if (separator.length !== 1 || /["\r\n]/.test(separator)) throw new UsageError('--separator must be one character.');
  const named = splitList(options.text('field')).map((text) => {
    const colon = text.lastIndexOf(':');
    if (colon < 1) throw new UsageError('--field must look like price:double,sku:string.');
    return [text.slice(0, colon), text.slice(colon + 1)] as const;
  });
  const columns = { id: options.text('id-column') ?? 'id', picture: options.text('picture-column') };
  if (columns.picture === undefined && options.isGiven('pictures')) {
    throw new UsageError('--pictures needs --picture-column, the name of the column with the paths.');
  }
  if (columns.picture !== undefined) await findPictures(picturesFolder(file, options));
  const listFields = named.filter(([, type]) => type.endsWith('[]')).map(([name]) => name);
  const lists = new Set([...splitList(options.text('lists')), ...listFields]);
  const listSeparator = options.text('list-separator') ?? '|';
  if (listSeparator === '') throw new UsageError('--list-separator must not be empty.');
  const cells = { separator, lists, listSeparator, columns, decimalComma: options.isOn('decimal-comma') };
  const table = { format, cells, fields: Object.fromEntries(named), isTable: format === 'csv' } as const;
  if (!isFile) return table;
  if (await isParquet(file)) {
    return { ...table, cells: { ...cells, types: await parquetTypes(file, columns) }, isTable: true };
  }
  if (format !== 'csv') return table;
  const rows = readRows(await readUnpacked(file, signal), cells);
  const { types, doubtful } = await columnTypes(rows, cells);
  return { ...table, cells: { ...cells, types }, doubtful };
}

function picturesFolder(file: string, options: ParsedOptions): string {
  return options.text('pictures') ?? (file === '-' ? '.' : path.dirname(file));
}

/**
 * Reads cells as the lists and types of the collection and those that the user names. Returns the fields to define: those
 * that the user names, and columns that the collection does not know yet.
 */
export function fitToSchema(
  { cells, fields, format }: Table,
  { schema }: Awaited<ReturnType<Collection['schema']>>,
  options: ParsedOptions,
): Record<string, string> {
  const withPredefined = options.text('list-separator') !== undefined;
  for (const { name, multiValued, origin } of format === 'csv' ? schema.fields : []) {
    if (multiValued && (origin === 'document' || withPredefined)) cells.lists.add(name);
  }
  const known = new Set([...schema.fields.map(({ name }) => name), 'score']);
  const found = [...(cells.types ?? [])].filter(([name]) => !known.has(name));
  // One cell that is no number must not make texts of the others, which may have a decimal comma.
  const targets = new Map([...schema.fields.map(({ name, type }) => [name, type] as const), ...Object.entries(fields)]);
  for (const [name, type] of targets) if (cells.types?.has(name)) cells.types.set(name, type as ColumnType);
  return { ...Object.fromEntries(found), ...fields };
}

/** A line for each new column that becomes text because of few of its values. */
export function doubtLines({ doubtful = [], fields }: Table, defined: Readonly<Record<string, string>>): string[] {
  return doubtful
    .filter(({ name }) => defined[name] === 'string' && fields[name] === undefined)
    .map(({ name, type, line, cell }) => {
      const value = JSON.stringify(cell.length > 40 ? `${cell.slice(0, 40)}…` : cell);
      return `The column ${name} becomes text, because line ${line} holds ${value}; nearly all others fit ${type}. If that is wrong: --field ${name}:${type}, in a new collection, which refuses such rows.`;
    });
}

/**
 * What analyzes local pictures, if the input has a column of pictures. The akin of this machine may show the files of a
 * folder that the user names.
 *
 * @param schema of the collection
 */
export async function openLocalPictures(
  file: string,
  { columns: { picture }, types }: Table['cells'],
  { client, url, name }: Server,
  { schema }: Awaited<ReturnType<Collection['schema']>>,
  options: ParsedOptions,
): Promise<AsyncDisposable & { pictures?: LocalPictures }> {
  if (picture === undefined) return { [Symbol.asyncDispose]: async () => {} };
  const config = analysisConfig(options);
  const models = new ContentModels({ contentModel: config.contentModel, models: modelsFolder(options) });
  const analyzer = await createModelAnalyzers(config, models);
  const collection = client.collection(name);
  const folder = picturesFolder(file, options);
  const areFree = Object.entries(PLACE_FIELDS).every(
    ([field, type]) =>
      (field === picture || !types?.has(field)) &&
      schema.fields.every((known) => known.name !== field || known.type === type),
  );
  // A key with a filter may neither read the status nor name files.
  const status = await collection.status().catch((error: unknown) => {
    if (!(error instanceof KeyError)) throw error;
  });
  const dataFolder = options.isGiven('pictures') && areFree && status ? await dataFolderAt(url) : undefined;
  if (dataFolder !== undefined) await rememberFolders(dataFolder, name, [folder]);
  const pictures = await openPictures(folder, {
    analyzer,
    threads: config.threads,
    model: await modelOf(models, status ?? {}),
    isShown: dataFolder !== undefined,
    modules: parseModulesApply(options.text('modules') ?? status?.modules?.join(',')),
  });
  return { pictures, [Symbol.asyncDispose]: () => analyzer[Symbol.asyncDispose]() };
}
