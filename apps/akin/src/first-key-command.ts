import { fileURLToPath } from 'node:url';
import { dataFolder } from './data-option.ts';
import type { ParsedOptions } from './options.ts';

const PROGRAM = fileURLToPath(new URL('../bin/akin.mjs', import.meta.url));

/**
 * The command that makes a first key in the store of this process, ready to paste into a shell with the same
 * environment. A password from the command line is left out.
 */
export function firstKeyCommand(options: ParsedOptions): string {
  return ['node', inShell(PROGRAM), 'keys create --scope admin', ...locationOf(options)].join(' ');
}

function locationOf(options: ParsedOptions): string[] {
  const databaseUrl = options.text('database-url');
  if (databaseUrl === undefined) return ['--data', inShell(dataFolder(options))];
  // The command reads it from the environment, as this process did.
  if (!options.isGiven('database-url')) return [];
  return ['--database-url', inShell(databaseUrl.replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, '$1:PASSWORD@'))];
}

function inShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
