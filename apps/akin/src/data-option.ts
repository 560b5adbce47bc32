import path from 'node:path';
import type { Option, ParsedOptions } from './options.ts';

const DEFAULT_DATA_FOLDER = 'akin-data';

export const DATA_OPTION: Option = {
  name: 'data',
  valueName: 'folder',
  description: 'Folder of the embedded database',
  default: DEFAULT_DATA_FOLDER,
};

export function dataFolder(options: ParsedOptions): string {
  return path.resolve(options.text('data') ?? DEFAULT_DATA_FOLDER);
}

/**
 * The database of a store in PostgreSQL. One in the environment counts less than a data folder that the command names.
 */
export function databaseUrl(options: ParsedOptions): string | undefined {
  if (options.isGiven('data') && !options.isGiven('database-url')) return undefined;
  return options.serverUrl('database-url', 'postgres', 'postgresql');
}

export function databaseFolder(options: ParsedOptions): string {
  return path.join(dataFolder(options), 'database');
}
